"""Studies: the figures of the paper and ours, as a table, plots, JSON and CSV. Run by ``frozenpinn study NAME``."""

from __future__ import annotations

from frozenpinn.benchmarks.studies import calibration, dimension, interior_points, kappa, snapshot, svd_layer, width
from frozenpinn.benchmarks.studies.study import Announce, Row, Study, plot_study, write_csv
from frozenpinn.errors import SettingsError, choices, suggestion

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        kappa.STUDY,
        snapshot.STUDY,
        *width.STUDIES,
        interior_points.STUDY,
        svd_layer.STUDY,
        dimension.STUDY,
        calibration.STUDY,
    )
}

__all__ = ["STUDIES", "Announce", "Row", "Study", "find_study", "plot_study", "write_csv"]


def find_study(name: str) -> Study:
    """Return a study by name; the error lists the names."""
    if name not in STUDIES:
        raise SettingsError(f"unknown study '{name}'.{suggestion(name, STUDIES)} The studies are {choices(STUDIES)}.")
    return STUDIES[name]

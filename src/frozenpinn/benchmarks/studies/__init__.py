"""Studies: quantities against one setting, as a table, a plot and JSON. Run by ``frozenpinn study NAME``."""

from __future__ import annotations

from frozenpinn.benchmarks.studies import calibration, dimension, interior_points, kappa, snapshot, svd_layer, width
from frozenpinn.benchmarks.studies.study import Announce, Row, Study
from frozenpinn.benchmarks.studies.study import plot_study as _plot_quantities
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

__all__ = ["STUDIES", "Announce", "Row", "Study", "find_study", "plot_study"]


def find_study(name: str) -> Study:
    """Return a study by name; the error lists the names."""
    if name not in STUDIES:
        raise SettingsError(f"unknown study '{name}'.{suggestion(name, STUDIES)} The studies are {choices(STUDIES)}.")
    return STUDIES[name]


def plot_study(study: Study, rows: list[Row], file: str) -> None:
    """Draw a study: points for the calibration, quantities against the abscissa for all others."""
    if isinstance(study, calibration.Calibration):
        study.draw(rows, file)
    else:
        _plot_quantities(study, rows, file)

"""Studies: the figures of the paper and ours, as a table, plots, JSON and CSV. Run by ``frozenpinn study NAME``."""

from __future__ import annotations

from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn_lab.studies import (
    advection_convergence,
    advection_long,
    advection_speed,
    bases,
    burgers_points,
    calibration,
    coverage,
    dimension,
    directions,
    fields,
    fuzz,
    gallery,
    half_waves,
    interior_points,
    inverse,
    inverse_ways,
    kappa,
    kuramoto_sivashinsky,
    nasty,
    paper,
    pinn_ablation,
    quantities,
    rcond,
    scaling,
    slices,
    snapshot,
    snapshot_fits,
    static_width,
    svd_layer,
    svd_threshold,
    sweep,
    width,
    width_burgers,
    width_heat,
)
from frozenpinn_lab.studies.study import Announce, Row, Study, plot_study, write_csv

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        advection_speed.STUDY,
        advection_convergence.STUDY,
        advection_long.STUDY,
        kappa.STUDY,
        rcond.STUDY,
        svd_threshold.STUDY,
        snapshot.STUDY,
        snapshot_fits.STUDY,
        bases.STUDY,
        directions.STUDY,
        burgers_points.STUDY,
        fields.STUDY,
        pinn_ablation.STUDY,
        slices.STUDY,
        kuramoto_sivashinsky.STUDY,
        *width.STUDIES,
        width_burgers.STUDY,
        width_heat.STUDY,
        interior_points.STUDY,
        svd_layer.STUDY,
        dimension.STUDY,
        calibration.STUDY,
        calibration.STATIC_STUDY,
        nasty.STUDY,
        gallery.STUDY,
        scaling.STUDY,
        half_waves.STUDY,
        inverse.STUDY,
        *inverse_ways.STUDIES,
        coverage.STUDY,
        static_width.STUDY,
        fuzz.STUDY,
        sweep.STUDY,
        paper.STUDY,
        quantities.STUDY,
    )
}

__all__ = ["STUDIES", "Announce", "Row", "Study", "find_study", "plot_study", "write_csv"]


def find_study(name: str) -> Study:
    """Return a study by name; the error lists the names."""
    if name not in STUDIES:
        raise SettingsError(f"unknown study '{name}'.{suggestion(name, STUDIES)} The studies are {choices(STUDIES)}.")
    return STUDIES[name]

"""What a study is: quantities against one setting, as a table, a plot and JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Announce = Callable[[str], None]

#: Colours of Okabe and Ito, which differ for colour-blind readers too, and markers that differ without any colour.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
MARKERS = "os^vDPX"


@dataclass(frozen=True)
class Study:
    """A named study.

    Attributes
    ----------
    name, title
        How it is called, what it compares.
    abscissa
        The setting that varies; a key of every row.
    quantities
        What is plotted against it: keys of every row, with None where there is no value.
    rows
        Computes the rows for a number of seeds and announces what it is doing.
    ordinate
        Label of the vertical axis, if all quantities are of one kind.
    """

    name: str
    title: str
    abscissa: str
    quantities: tuple[str, ...]
    rows: Callable[[int, Announce], list[Row]]
    ordinate: str = ""


def plot_study(study: Study, rows: list[Row], file: str) -> None:
    """Draw all quantities against the abscissa, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for quantity, marker, colour in zip(study.quantities, MARKERS, COLOURS, strict=False):
        pairs = [(r[study.abscissa], r[quantity]) for r in rows if r[quantity] is not None]
        if pairs:
            axis.loglog(*zip(*pairs, strict=True), marker=marker, color=colour, label=quantity.replace("_", " "))
    for row in rows:
        if row.get("failures"):
            axis.axvline(row[study.abscissa], color="0.8", zorder=0)
    axis.set(xlabel=study.abscissa.replace("_", " "), ylabel=study.ordinate, title=study.title)
    axis.grid(color="0.92")
    axis.legend(fontsize=8)
    figure.savefig(file, dpi=130)
    plt.close(figure)

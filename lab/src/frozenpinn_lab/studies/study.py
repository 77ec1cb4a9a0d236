"""What a study is: rows of numbers, as a table, a plot, JSON and CSV.

Most studies show quantities against one setting. A study whose figure is another one brings its own ``draw``; it draws
from the rows alone, which may hold lists and dictionaries for that, so that what is seen is also in the files.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from frozenpinn.errors import SettingsError, choices

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]
Announce = Callable[[str], None]
Draw = Callable[[list[Row], "Figure"], None]

#: Colours of Okabe and Ito, which differ for colour-blind readers too, and markers that differ without any colour.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
MARKERS = "os^vDPX"
#: Quantities that begin so are figures of the paper: drawn dashed, in the colour of what they stand beside.
PUBLISHED = "published_"
_DECADES = 100.0  # a range that is shorter shows its own values on the axis


@dataclass(frozen=True)
class Study:
    """A named study.

    Attributes
    ----------
    name, title
        How it is called, what it compares.
    abscissa
        The setting that varies; a key of every row. Numbers are drawn as curves, names as groups of bars.
    quantities
        What is plotted against it: keys of every row, with None where there is no value.
    rows
        Computes the rows for a number of seeds and announces what it is doing; takes the options by name.
    ordinate
        Label of the vertical axis, if all quantities are of one kind.
    beside
        Quantities of another kind, drawn in a second picture beside the first.
    beside_ordinate
        Label of its vertical axis.
    details
        Further columns of the table, which are not drawn.
    draw
        Draws the rows into an empty figure, which has a title already; None for quantities against the abscissa.
    size
        Of the figure, in inches; None for one that fits one or two pictures.
    options
        Names of what else may be given for its rows.
    """

    name: str
    title: str
    abscissa: str
    quantities: tuple[str, ...]
    rows: Callable[..., list[Row]]
    ordinate: str = ""
    beside: tuple[str, ...] = ()
    beside_ordinate: str = ""
    details: tuple[str, ...] = ()
    draw: Draw | None = None
    size: tuple[float, float] | None = None
    options: tuple[str, ...] = ()

    def compute(self, seeds: int, announce: Announce, **given: Any) -> list[Row]:
        """Return the rows; options that were given are refused if the study has none of that name."""
        unknown = [name for name, value in given.items() if value is not None and name not in self.options]
        if unknown:
            known = f"it takes {choices(map(_flag, self.options))}" if self.options else "it takes no such options"
            raise SettingsError(f"the study '{self.name}' does not know {_flag(unknown[0])}; {known}.")
        return self.rows(seeds, announce, **{name: value for name, value in given.items() if value is not None})

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of the table."""
        return (self.abscissa, *self.details, *self.quantities, *self.beside, "failures")

    def cells(self, row: Row) -> list[str]:
        """Return one line of the table."""
        values = (row[column] for column in self.columns[1:-1])
        return [_setting(row[self.abscissa]), *map(_value, values), str(len(row.get("failures", [])))]


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _value(value: float | str | None) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:.3g}"


def write_csv(rows: list[Row], stream: IO[str]) -> None:
    """Write rows as comma-separated values: nothing for None, lists as JSON, dictionaries as columns ``key.inner``.

    Columns are in the order in which they appear first.
    """
    lines = [dict(_flat(row)) for row in rows]
    table = csv.DictWriter(stream, list(dict.fromkeys(key for line in lines for key in line)), lineterminator="\n")
    table.writeheader()
    table.writerows(lines)


def _flat(row: Row, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, json.dumps(value) if isinstance(value, list) else value


def plot_study(study: Study, rows: list[Row], file: str) -> None:
    """Draw a study into a file, whose ending tells the format."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=study.size or (11 if study.beside else 7, 4.6), layout="constrained")
    figure.suptitle(study.title)
    if study.draw is None:
        _draw_quantities(study, rows, figure)
    else:
        study.draw(rows, figure)
    figure.savefig(file, dpi=130)


def _draw_quantities(study: Study, rows: list[Row], figure: Figure) -> None:
    """Draw all quantities against the abscissa, on logarithmic axes; names instead of numbers make bars."""
    pictures = [(study.quantities, study.ordinate)]
    if study.beside:
        pictures.append((study.beside, study.beside_ordinate))
    named = any(isinstance(row[study.abscissa], str) for row in rows)
    axes = figure.subplots(1, len(pictures), squeeze=False)
    for axis, (quantities, ordinate) in zip(axes[0], pictures, strict=True):
        (bars if named else curves)(axis, study.abscissa, quantities, rows)
        finish(axis, ylabel=ordinate)


def finish(axis: Any, **labels: Any) -> None:
    """Set labels and draw a grid behind everything, and a legend if something has a label."""
    axis.set(**labels)
    axis.grid(color="0.92")
    axis.set_axisbelow(True)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8)


def _styles(quantities: tuple[str, ...]) -> dict[str, tuple[str, str, bool]]:
    """Return colour, marker and whether it is published; a published figure looks like what it stands beside."""
    own = list(dict.fromkeys(q.removeprefix(PUBLISHED) for q in quantities))
    places = {q: own.index(q.removeprefix(PUBLISHED)) % len(COLOURS) for q in quantities}
    return {q: (COLOURS[i], MARKERS[i], q.startswith(PUBLISHED)) for q, i in places.items()}


def curves(axis: Any, abscissa: str, quantities: tuple[str, ...], rows: list[Row]) -> None:
    """Draw one curve per quantity on logarithmic axes; a grey line marks a setting where something failed."""
    for quantity, (colour, marker, published) in _styles(quantities).items():
        pairs = [(r[abscissa], r[quantity]) for r in rows if r[quantity] is not None]
        if pairs:
            style = {"linestyle": "--", "markerfacecolor": "white"} if published else {}
            label = quantity.replace("_", " ")
            axis.loglog(*zip(*pairs, strict=True), marker=marker, color=colour, label=label, **style)
    for row in rows:
        if row.get("failures"):
            axis.axvline(row[abscissa], color="0.8", zorder=0)
    settings = [row[abscissa] for row in rows]
    if settings and max(settings) < _DECADES * min(settings):
        axis.set_xscale("log")
        axis.set_xticks(settings, labels=[_setting(s) for s in settings])
        axis.set_xticks([], minor=True)
    axis.set_xlabel(abscissa.replace("_", " "))


def bars(axis: Any, abscissa: str, quantities: tuple[str, ...], rows: list[Row]) -> None:
    """Draw a group of bars per name, one bar per quantity."""
    width = 0.8 / len(quantities)
    for k, (quantity, (colour, _, published)) in enumerate(_styles(quantities).items()):
        pairs = [(i + (k + 0.5) * width - 0.4, r[quantity]) for i, r in enumerate(rows) if r[quantity] is not None]
        if pairs:
            style = {"color": "white", "edgecolor": colour, "hatch": "///"} if published else {"color": colour}
            axis.bar(*zip(*pairs, strict=True), width=width, label=quantity.replace("_", " "), **style)
    axis.set_yscale("log")
    axis.set_xlim(-0.6, len(rows) - 0.4)
    axis.set_xticks(range(len(rows)), labels=[_setting(r[abscissa]) for r in rows], rotation=30, ha="right")

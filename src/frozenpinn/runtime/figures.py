"""Figures in one style, which leave the user's Matplotlib as it is.

No backend is chosen here and no figure is opened behind the user's back. A figure that goes to a file is no business of
pyplot; one that is returned belongs to pyplot if the user has imported it, so that ``plt.show()`` and ``plt.savefig()``
work. In notebooks figures are shown as the result of a cell.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from frozenpinn.runtime.paths import checked_picture, replacing

STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "axes.axisbelow": True,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}  #: what all figures share; colours and fonts stay the user's
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  #: distinguished by the colour-blind
_DPI = 130
_IN_CELLS = ("inline", "ipympl", "nbagg", "widget")  # backends that show a figure as what a cell returns, or live


_APART: ContextVar[bool] = ContextVar("apart", default=False)


@contextmanager
def apart() -> Iterator[None]:
    """Make figures that pyplot never sees, for pictures inside something else."""
    token = _APART.set(True)
    try:
        yield
    finally:
        _APART.reset(token)


def style() -> Any:
    """Return the context in which figures are drawn."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def new_figure(size: tuple[float, float], file: Any = None) -> Any:
    """Make an empty figure: the user's pyplot's if it is imported and the figure is not for a file."""
    pyplot = None if _APART.get() else sys.modules.get("matplotlib.pyplot")
    if file is None and pyplot is not None and not any(name in str(pyplot.get_backend()).lower() for name in _IN_CELLS):
        return pyplot.figure(figsize=size, layout="constrained")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class Drawing(Figure):
        """A figure that notebooks show, whatever backend is set."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=_DPI)
            return buffer.getvalue()

    figure = Drawing(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finished(figure: Any, file: Any = None) -> Any:
    """Save a figure if a file is given, in place of one that is there, and return it."""
    if file is not None:
        with replacing(checked_picture(file)) as part:
            figure.savefig(part, dpi=_DPI)
    return figure

"""A choice of sensors, and what error bars to expect from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Design:
    """What :func:`frozenpinn.design` returns.

    Attributes
    ----------
    chosen
        Which of the candidates, the most telling one first.
    points, times
        Where, and when.
    names
        The unknowns.
    deviations
        The standard deviations to expect of the unknowns with the first, the first two, … sensors, shape (count,
        unknowns).
    with_all
        The same if all candidates were used.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_xx = -k", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0)})
    >>> fp.design(rod, [0.1, 0.2, 0.5, 0.9], 1).chosen
    (2,)
    """

    chosen: tuple[int, ...]
    points: Array
    times: Array | None
    names: tuple[str, ...]
    deviations: Array
    with_all: Array

    def __str__(self) -> str:
        lines = [f"{len(self.chosen)} sensors"]
        for k, (index, x) in enumerate(zip(self.chosen, self.points, strict=True)):
            place = ", ".join(f"{c:.4g}" for c in x)
            when = "" if self.times is None else f", t = {self.times[k]:.4g}"
            bars = ", ".join(f"{n} ± {d:.2g}" for n, d in zip(self.names, self.deviations[k], strict=True))
            lines.append(f"  {index}: ({place}){when}: {bars}")
        bars = ", ".join(f"{n} ± {d:.2g}" for n, d in zip(self.names, self.with_all, strict=True))
        return "\n".join([*lines, f"  all candidates: {bars}"])

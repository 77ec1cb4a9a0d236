"""The tuned numbers of eigenvalue problems, each a field that users may replace: ``Rules(modes=ModeRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModeRules:
    """Sizes, and when a value is believed."""

    first: tuple[int, int, int] = (48, 300, 450)  #: neurons in one, two, three dimensions …
    each: tuple[float, float, float] = (3.0, 8.0, 16.0)  #: … and for each eigenvalue that is asked for
    axis: int = 40  #: neurons of each axis of a product …
    axis_each: float = 4.0  #: … and for each half-wave of the functions asked for, …
    axis_most: int = 240  #: … at most
    points: tuple[float, float, float] = (2.0, 4.0, 6.0)  #: points of the domain for each neuron
    boundary: float = 1.5  #: points of the boundary for each neuron, …
    least_boundary: int = 8  #: … on each side at least
    cutoffs: tuple[float, ...] = (1e-13, 1e-11, 1e-9, 1e-7)  #: of the SVD layer, the first one that leaves …
    clean: float = 1e-2  #: … no more than this of the equation, …
    better: float = 0.3  #: … or the one that leaves less than this part of what finer ones leave
    witnesses: tuple[float, ...] = (1.1, 1.2)  #: widths of networks that tell the error, beside that of the answer
    growth: float = 1.5  #: of the width, if the tolerance is not met or too few values reappear
    tries: int = 3  #: widths that are tried without a tolerance, until as many values as asked for reappear
    more: int = 8  #: values that are looked at beyond those asked for
    agree: float = 1e-2  #: relative distance of a value from that of another network, up to which it is the same, …
    residual: float = 0.1  #: … if the function leaves no more than this part of the equation at other points, …
    close: float = 1e-4  #: … or if the distance is no more than this …
    residual_most: float = 0.6  #: … and the residual than this
    small: float = 1e-2  #: part of the largest value asked for that is the scale of those near zero, …
    few: int = 4  #: … or of the largest of so many, if fewer are asked for
    round_off: float = 4e-15  #: relative error of a value that is taken for granted
    group: float = 1e-10  #: relative distance of values that are one …
    group_most: float = 1e-6  #: … or up to this if their errors are larger
    held_out: int = 300  #: points at which residuals are measured
    corners: float = 9.0  #: highest power of the distance among functions of corners
    neutral: float = 1e-7  #: growth rate beside the size of the eigenvalues that is none

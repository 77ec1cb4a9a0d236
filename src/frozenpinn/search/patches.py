"""Patches as a user asks for them: ``Settings(basis=fp.Patches())``."""

from __future__ import annotations

from dataclasses import dataclass

from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import check_flag, is_whole, shown, spelled

MOST_ACROSS = 512
ORDERS = (3, 14)


@spelled(SettingsError)
@dataclass(frozen=True)
class Patches:
    """Local networks: small pieces of the domain, each with frozen neurons of its own, joined by traces.

    Parameters
    ----------
    across
        Patches along the longest edge of the domain at first; None leaves it open.
    order
        How fast errors fall with the size of a patch: each has as many functions as there are polynomials of two
        variables up to this degree, 66 for order 10. None follows the tolerance.
    levels
        How often a patch may be quartered.
    adaptive
        Whether patches are quartered where the solution has detail; otherwise only where the boundary has.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> square = fp.Box([0, 0], [1, 1])
    >>> plate = fp.Problem("lap(u) = 0", square, boundary="u = exp(x)*sin(y)")
    >>> solution = fp.solve(plate, settings=fp.Settings(basis=fp.Patches(across=4)))
    >>> round(float(solution(0.5, 0.5)), 6)
    0.790439
    """

    across: int | None = None
    order: int | None = None
    levels: int = 16
    adaptive: bool = True

    def __post_init__(self) -> None:
        if self.across is not None and not (is_whole(self.across) and 1 <= self.across <= MOST_ACROSS):
            raise SettingsError(f"across is a number of patches from 1 to {MOST_ACROSS}, got {shown(self.across)}.")
        low, high = ORDERS
        if self.order is not None and not (is_whole(self.order) and low <= self.order <= high):
            raise SettingsError(
                f"the order of patches is a whole number from {low} to {high}, got {shown(self.order)}."
            )
        if not (is_whole(self.levels) and 0 <= self.levels <= 20):
            raise SettingsError(f"levels is a whole number from 0 to 20, got {shown(self.levels)}.")
        check_flag("adaptive", self.adaptive)


class OnPatches:
    """What a solve on patches teaches the next one, which has patches, too."""

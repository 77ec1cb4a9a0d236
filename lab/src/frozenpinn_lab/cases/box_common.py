"""What the cases on boxes share."""

from __future__ import annotations

from frozenpinn.search.settings import Settings

#: Intervals between the times at which errors are measured; steps of references divide them.
OUTPUTS = 99


def widths(high: int, low: int) -> dict[tuple[str, str], Settings]:
    """Return settings of the recipe "best" at both precisions.

    A rule that does not look at the reference: the smallest width of a ladder (16, 20, … 48, 56, … in two, 12, 16, … in
    three dimensions) for which ``fp.estimate_error`` is at most 2e-6 (1e-3 at low precision). True errors were printed
    beside the estimates.
    """
    return {
        ("best", "high"): Settings(width=high, rtol=1e-5, subspace=None),
        ("best", "low"): Settings(width=low, rtol=1e-3, subspace=None),
    }

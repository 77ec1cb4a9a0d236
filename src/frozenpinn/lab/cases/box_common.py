"""What the cases on boxes share."""

from __future__ import annotations

from frozenpinn.adaptivity.settings import Settings

#: Intervals between the times at which errors are measured; steps of references divide them.
OUTPUTS = 99


def widths(high: int, low: int) -> dict[tuple[str, str], Settings]:
    """Return settings of the recipe "best" at both precisions."""
    return {("best", "high"): Settings(width=high), ("best", "low"): Settings(width=low, rtol=1e-4)}

"""The error of a sweep that could not go on."""

from __future__ import annotations

from typing import Any

from frozenpinn.errors import FrozenPinnError


class SweepError(FrozenPinnError, RuntimeError):
    """A sweep could not go on; what was finished is kept.

    Attributes
    ----------
    dataset
        What is finished of a sweep without a store, the other runs pending; None if it has a store.
    """

    def __init__(self, message: str, dataset: Any = None) -> None:
        super().__init__(message)
        self.dataset = dataset

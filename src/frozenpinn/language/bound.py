"""Programs at places that stay: what depends on these alone is computed once, however often the rest is evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenpinn.language.program import Program, carry_out
from frozenpinn.runtime.arrays import is_finite, read_only

Array = np.ndarray


class Bound:
    """A program whose first inputs are fixed; the others are given to :meth:`__call__`, as to the program itself.

    Results have the same bits. Those that depend on the fixed inputs alone can't be written into.

    Examples
    --------
    >>> import sympy as sp
    >>> x, u = sp.symbols("x u")
    >>> Bound(Program([sp.sin(x) * u, sp.cos(x)], [x, u]), np.array([0.0, np.pi / 2]))(3.0)[0]
    array([0., 3.])
    """

    def __init__(self, program: Program, *fixed: Any) -> None:
        self._program, self._fixed = program, fixed
        self._blank: list[Any] = program.blank.copy()
        self._code: list[Any] = []
        memory = program.blank.copy()
        memory[: len(fixed)] = fixed
        known = {slot for slot, value in enumerate(memory) if value is not None}
        kept: dict[int, int] = {}  # where what is known now stands in the memory of this program

        def place(slot: int) -> int:
            if slot not in known:
                return slot
            if slot not in kept:
                value = memory[slot]
                kept[slot] = len(self._blank)
                self._blank.append(read_only(value) if isinstance(value, np.ndarray) else value)
            return kept[slot]

        with np.errstate(all="ignore"):
            for slot, function, arguments in program.code:
                if known.issuperset(arguments):
                    value = function(*(memory[i] for i in arguments))
                    kept.pop(slot, None)
                    known.add(slot)
                    memory[slot] = value
                else:
                    self._code.append((slot, function, tuple(map(place, arguments))))
                    kept.pop(slot, None)
                    known.discard(slot)
        self._outputs = tuple(map(place, program.outputs))

    def __call__(self, *others: Any) -> list[Any]:
        """Evaluate all expressions of the program."""
        memory, first = self._blank.copy(), len(self._fixed)
        memory[first : first + len(others)] = others
        carry_out(self._code, memory)
        found = [memory[slot] for slot in self._outputs]
        if not self._program.overflows or all(map(is_finite, found)):
            return found
        return self._program(*self._fixed, *others)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bound, (self._program, *self._fixed)

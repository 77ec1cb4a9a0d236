"""Operators that are known by what they do to vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from frozenpinn.errors import SettingsError
from frozenpinn.operators.factors import IterativeFactor
from frozenpinn.operators.protocol import Array, Operator, Scalar, Tags

Map: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class MatrixFree(Operator):
    """A linear function of vectors (n,) and blocks (n, m).

    Parameters
    ----------
    apply, apply_transposed
        The function and, if it is known, the one of the transposed matrix; it pickles if they do.
    shape, tags
        Rows and columns, and structure that the function is known to have.
    preconditioner
        A similar operator that can be factorised: its factor at the same shift speeds up GMRES.

    Examples
    --------
    >>> import numpy as np
    >>> A = MatrixFree(np.cumsum, None, (3, 3))
    >>> A.factorise().solve(np.array([-1.0, -3.0, -6.0])).round(9)
    array([1., 2., 3.])
    """

    apply: Map
    apply_transposed: Map | None
    shape: tuple[int, int]
    tags: Tags = frozenset()
    preconditioner: Operator | None = None

    @property
    def T(self) -> MatrixFree:  # noqa: N802
        """The transposed map."""
        if self.apply_transposed is None:
            raise SettingsError("this operator has no transposed map; give MatrixFree an apply_transposed.")
        near = None if self.preconditioner is None else self.preconditioner.T
        return MatrixFree(self.apply_transposed, self.apply, self.shape[::-1], self.tags, near)

    def _apply(self, block: Array) -> Array:
        return self.apply(block)

    def factorise(self, shift: Scalar = 0.0) -> IterativeFactor:
        """Solve by GMRES."""
        near = self.preconditioner
        return IterativeFactor(self, shift, None if near is None else near.factorise(shift))

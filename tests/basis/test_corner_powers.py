"""Singular functions times even powers of the distance."""

from __future__ import annotations

import numpy as np
import pytest

from frozenpinn.basis.corners import Corner, SingularFunctions

FUNCTIONS = SingularFunctions.of([Corner(0.1, 0.2, 0.3, 4.0)], [1, 2], [0.0, np.pi / 2], 5.0)
X = np.array([[0.7, 0.8], [-0.5, 0.9], [0.4, 0.1]])


def test_which_there_are():
    powers = sorted({(round(row[4], 3), int(row[6])) for row in FUNCTIONS.table})
    assert powers == [(0.785, 0), (0.785, 1), (0.785, 2), (1.571, 0), (1.571, 1)]


@pytest.mark.parametrize("alpha", [(1, 0), (0, 1), (1, 1), (2, 1), (0, 3)])
def test_derivatives(alpha):
    axis = 0 if alpha[0] else 1
    lower = tuple(a - (i == axis) for i, a in enumerate(alpha))
    step = 1e-5 * np.eye(2)[axis]
    slope = (FUNCTIONS(X + step, lower) - FUNCTIONS(X - step, lower)) / 2e-5
    assert FUNCTIONS(X, alpha) == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_laplacians():
    both = FUNCTIONS(X, (2, 0)) + FUNCTIONS(X, (0, 2))
    assert FUNCTIONS(X, (0, 0), 1) == pytest.approx(both, abs=1e-12)
    harmonic = FUNCTIONS.table[:, 6] == 0
    assert np.max(np.abs(FUNCTIONS(X, (0, 0), 1)[:, harmonic])) < 1e-14
    assert np.min(np.abs(FUNCTIONS(X, (0, 0), 1)[:, ~harmonic])) > 1e-3


def test_tables_without_powers_are_harmonic():
    old = SingularFunctions(FUNCTIONS.table[:, :6])
    assert np.all(old.table[:, 6] == 0)
    assert len(SingularFunctions(np.zeros((0, 6)))) == 0

"""Which functions of corners and holes eigenfunctions get."""

from __future__ import annotations

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.enrichments.mode_functions import mode_functions

L_SHAPE = fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])


def drum(domain, equation="-lap(u) = lam*u", boundary="u = 0"):
    return fp.Problem(equation, domain, boundary=boundary, parameters={"lam": fp.Eigenvalue()})


def test_powers_of_the_corner_of_an_l():
    table = mode_functions(drum(L_SHAPE), 4.0, 2).table
    powers = sorted({(round(float(p - q), 6), int(q)) for p, q in table[:, 5:7]})
    assert [(pytest.approx(2 / 3, abs=1e-6), 0), (pytest.approx(2 / 3, abs=1e-6), 1)] == powers[:2]
    assert np.all(table[:, 5] + table[:, 6] <= 4.0)  # right angles have whole powers, which are smooth


def test_series_around_a_hole():
    functions = mode_functions(drum(fp.domains.Annulus(0.5, 1)), 4.0, 1)
    assert len(functions) == 3 + 2 * (1 + 3)


@pytest.mark.parametrize(
    "problem", [drum(fp.Disk((0, 0), 1)), drum(L_SHAPE, "-u_xx - 2*u_yy = lam*u"), drum(fp.Box([0, 0], [1, 1]))]
)
def test_none_without_corners_and_holes_or_for_other_operators(problem):
    assert mode_functions(problem, 4.0, 2) is None

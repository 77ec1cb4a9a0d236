import numpy as np
import pytest

import frozenpinn as fp


def well(depth, width, domain):
    return fp.Problem(
        f"-lap(u) - {depth}*exp(-(x^2 + y^2)/{width}^2)*u = lam*u",
        domain,
        boundary="u = 0",
        parameters={"lam": fp.Eigenvalue()},
    )


def test_values_that_a_narrow_well_moves_are_not_those_of_the_empty_disk():
    with pytest.warns(fp.FrozenPinnWarning) as told:
        found = fp.modes(well(4e4, 0.01, fp.Disk()), 3)
    assert any("left out" in str(warning.message) for warning in told)
    assert not np.any(np.abs(found.values - 5.78318596) < 1e-3)  # that of the disk without the well
    assert found.status == "reached"


def test_values_that_a_weak_well_hardly_moves_have_the_error_of_that():
    found = fp.modes(well(40, 0.01, fp.Disk()), 1)
    shift = 40 * np.pi * 1e-4 / (np.pi * 0.2695)  # to first order: the square of the function in the middle
    assert abs(found.values[0] - 5.78318596) < 1e-6 or found.errors[0] < 1e-3
    assert found.errors[0] + abs(found.values[0] - 5.78318596) > 0.5 * shift


def test_an_empty_disk_misses_nothing():
    problem = fp.Problem("-lap(u) = lam*u", fp.Disk(), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    assert fp.modes(problem, 3).errors.max() < 1e-9

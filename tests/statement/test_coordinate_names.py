"""Own names of Cartesian coordinates."""

import numpy as np
import pytest

import frozenpinn as fp


def state(coordinates, equation="u_t = u_ss", domain=None):
    domain = domain or fp.Interval(0, 1)
    return fp.Problem(equation, domain, (0, 0.1), "sin(pi*s)", "u = 0", coordinates=coordinates)


@pytest.fixture(scope="module")
def solution():
    return fp.solve(state("s"))


def test_coordinates_are_called_so_everywhere(solution, tmp_path):
    found = solution(s=0.25, t=0.1, derivative="s")
    assert found == pytest.approx(np.pi * np.cos(np.pi / 4) * np.exp(-0.1 * np.pi**2), rel=1e-9)
    assert solution.grid(points=5, times=2).u.dims == ("s", "t")
    solution.save(str(tmp_path / "s.fpinn"))
    again = fp.load(str(tmp_path / "s.fpinn"))
    assert again(s=0.25, t=0.1, derivative="s") == found
    assert solution.problem.at().domain.coordinates == ("s",)


def test_sides_are_called_after_them():
    boundary = {"a-": "u = 0", "right": "u_a = 0", "b-": fp.Periodic(), "b+": fp.Periodic()}
    problem = fp.Problem("u_t = u_aa + dbb(u)", fp.Box([0, 0], [1, 2]), (0, 1), 0, boundary, coordinates=("a", "b"))
    assert problem.domain.coordinates == ("a", "b")
    assert problem.domain.periodic == (False, True)
    assert str(problem.equations[0]) in ("u_t = u_aa + u_bb", "u_t = lap(u)")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("s", "y"), r"names 2 of them, \['s', 'y'\], and the domain has 1 dimension"),
        (("t",), "'t' is time and can't be a coordinate"),
        (("n",), "'n' is the outward normal"),
        (("sin",), "'sin' is a built-in name"),
        (("a_b",), "a plain name such as 's', without underscores"),
        ((3,), "a plain name"),
    ],
)
def test_names_that_are_refused(names, words):
    with pytest.raises(fp.ProblemError, match=words):
        state(names)


def test_other_names_are_unknown():
    with pytest.raises(fp.ProblemError, match=r"unknown name 'u_xx'.*coordinates 's', 't'"):
        state("s", "u_t = u_xx")
    with pytest.raises(fp.ProblemError, match="names one of them twice: s, s"):
        state(("s", "s"), domain=fp.Box([0, 0], [1, 1]))

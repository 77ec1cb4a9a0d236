"""The paper's boundary rows (Bu)ₜ = gₜ − κ(Bu − g): they converge to the exact solution, with and without κ."""

import numpy as np
import pytest

import frozenpinn as fp

BAR = fp.Interval(0, 1)
COOLING = {"exact": "exp(-t)*cos(x)"}
PROBLEMS = {
    "Dirichlet": fp.Problem(
        "u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", exact="exp(-t)*sin(x)"
    ),
    "Neumann": fp.Problem(
        "u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "cos(x)", fp.Neumann(0), exact="exp(-t)*cos(x)"
    ),
    "Dirichlet in time": fp.Problem(
        "u_t = u_xx", BAR, (0, 0.5), "cos(x)", {"left": "u = exp(-t)", "right": "u = exp(-t)*cos(1)"}, **COOLING
    ),
    "Neumann in time": fp.Problem(
        "u_t = u_xx", BAR, (0, 0.5), "cos(x)", {"left": "u_n = 0", "right": "u_n = -exp(-t)*sin(1)"}, **COOLING
    ),
    "Robin in time": fp.Problem(
        "u_t = u_xx", BAR, (0, 0.5), "cos(x)",
        {"left": "u + u_n = exp(-t)", "right": "2*u + u_n = exp(-t)*(2*cos(1) - sin(1))"}, **COOLING
    ),
    "nonlinear": fp.Problem(
        "u_t = u*u_xx + exp(-t)*(exp(-t)*cos(x)**2 - cos(x))", BAR, (0, 0.5), "cos(x)",
        {"left": "u = exp(-t)", "right": "u_n = -exp(-t)*sin(1)"}, **COOLING
    ),
    "wave": fp.Problem(
        "u_tt = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", initial_velocity=0, exact="cos(t)*sin(x)"
    ),
    "wave in time": fp.Problem(
        "u_tt = u_xx", BAR, (0, 1), "sin(x)", {"left": "u = -sin(t)", "right": "u = sin(1 - t)"},
        initial_velocity="-cos(x)", exact="sin(x - t)",
    ),
}  # fmt: skip
FIRST_ORDER = [name for name in PROBLEMS if "wave" not in name]


def solved(name, kappa, cutoff=1e-8):
    return fp.solve(
        PROBLEMS[name], settings=fp.Settings(width=60, cutoff=cutoff, boundary=fp.boundary.AugmentedODE(kappa))
    )


@pytest.mark.parametrize("name", FIRST_ORDER)
@pytest.mark.parametrize("kappa", [1e3, 1e5])
def test_with_kappa_the_solution_is_accurate(name, kappa):
    assert solved(name, kappa).error()["rel_l2"] < 1e-5


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_without_kappa_the_data_are_followed_by_their_rate(name):
    assert solved(name, 0.0).error()["rel_l2"] < 1e-3


@pytest.mark.parametrize("name", ["wave", "wave in time"])
@pytest.mark.parametrize("kappa", [0.0, 1e7])
def test_second_order_rows(name, kappa):
    assert solved(name, kappa).error()["rel_l2"] < 1e-3


@pytest.mark.parametrize("name", ["Dirichlet", "Neumann", "Dirichlet in time"])
def test_finer_cutoffs_converge(name):
    coarse, fine = (solved(name, 1e5, cutoff).error()["rel_l2"] for cutoff in (1e-4, 1e-9))
    assert fine < 1e-2 * coarse
    assert fine < 1e-7


@pytest.mark.parametrize("name", ["Dirichlet", "Dirichlet in time"])
def test_kappa_pulls_the_solution_to_its_boundary_values(name):
    """The rows are satisfied in the least-squares sense only; κ keeps what is left from accumulating."""

    def boundary_error(kappa):
        solution = solved(name, kappa, 1e-5)
        end = solution.problem.time[1]
        ends = np.array([solution.problem.domain.lower[0], solution.problem.domain.upper[0]])
        expected = solution.problem.exact["u"](ends[:, None], end)
        return np.abs(solution(ends, end) - expected).max()

    assert boundary_error(1e5) < 0.05 * boundary_error(0.0)


def test_the_rows_are_soft_and_nothing_is_lifted():
    system = solved("Dirichlet in time", 1e5).system
    space = system.spaces[0]
    assert space.network.lift_size == 0
    assert len(space.soft.functionals) == space.soft.data.size == 2
    assert system.linear.structure == "general"
    np.testing.assert_allclose(space.soft.data(0.3), np.exp(-0.3) * np.array([1.0, np.cos(1.0)]), rtol=1e-14)
    np.testing.assert_allclose(space.soft.data(0.3, 1), -np.exp(-0.3) * np.array([1.0, np.cos(1.0)]), rtol=1e-14)


def test_periodic_axes_stay_exact():
    ring = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem("u_t + u_x = 0", ring, (0, 1), "sin(x)", exact="sin(x - t)")
    solution = fp.solve(problem, settings=fp.Settings(width=60, boundary="augmented-ode"))
    assert solution.system.spaces[0].soft is None
    assert solution.error()["rel_l2"] < 1e-6


@pytest.mark.parametrize("kappa", [-1.0, float("nan")])
def test_kappa_must_not_be_negative(kappa):
    with pytest.raises(fp.SettingsError, match="kappa is a finite number and must not be negative, got "):
        fp.boundary.AugmentedODE(kappa)


def test_unknown_strategies_are_refused_with_the_known_ones():
    known = "'augmented-ode', 'null-space', 'outer-basis'"
    with pytest.raises(fp.SettingsError, match=f"unknown boundary strategy 'penalty'; choose one of {known}"):
        fp.solve(PROBLEMS["Dirichlet"], settings=fp.Settings(width=20, boundary="penalty"))

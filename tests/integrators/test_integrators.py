"""Integrators: one answer from all of them, closed forms against expm, errors that tell what happened."""

import re

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.state import StateLayout
from frozenpinn.evolution.integrator_choice import choose_integrator
from frozenpinn.evolution.kind import Evolution
from frozenpinn.integrators import INTEGRATORS, TRAJECTORIES, SciPy
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring
from frozenpinn.operators import Dense, Tag, symmetric_modes
from frozenpinn.search.kind import Hints
from frozenpinn.search.settings import Task, Tolerances
from frozenpinn.search.single import solve_once

STEPPERS = ["bdf", "cvode", "cvode-adams", "dop853", "lsoda", "radau", "rk23", "rk45"]


class Load:
    """b(t) of a system, as integrators see it."""

    is_separable = False

    def __init__(self, value, is_constant):
        self.value, self.is_constant = value, is_constant

    def __call__(self, t):
        return self.value(t)

    def batch(self, times):
        return np.array([self.value(t) for t in times])


class Linear:
    """A linear system as integrators see it, ∂ₜᵐ c = K c + D v + F w(t), with an exact solution by ``expm``.

    w = (1, t, cos 7t, sin 7t) solves a linear equation itself, so [y, w] is a larger autonomous system.
    """

    has_constant_coefficients = True
    shortest = np.inf
    growth = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, -7], [0, 0, 7, 0]], dtype=float)

    def __init__(self, position, initial, force, time=(0.0, 1.0), order=1, velocity=None, structure="general"):
        self.time, self._force = time, force
        self.coefficients = len(position)
        layout = StateLayout((self.coefficients,), (order,))
        velocity = np.zeros((self.coefficients, len(layout.moving))) if velocity is None else velocity
        tags = {"symmetric": {Tag.SYMMETRIC}, "skew-symmetric": {Tag.SKEW}, "general": set()}[structure]
        self.linear = LinearPart(Dense(position, frozenset(tags)), Dense(velocity) if velocity.size else None, layout)
        self.matrix, self.size = self.linear.matrix, layout.size
        self.initial_state = initial
        self.forcing = Load(self.load, is_constant=not np.any(force[:, 1:]))

    def load(self, t):
        return self._force @ np.array([1.0, t, np.cos(7 * t), np.sin(7 * t)])

    def state_forcing(self, t):
        return np.concatenate([np.zeros(self.size - self.coefficients), self.forcing(t)])

    def rhs(self, t, y):
        return self.matrix @ y + self.state_forcing(t)

    def rates(self, times, states):
        return np.array([self.rhs(t, y) for t, y in zip(times, states, strict=True)])

    def jacobian(self, t, y):
        return self.matrix

    def exact(self, times):
        n, start = self.size, self.time[0]
        augmented = np.zeros((n + 4, n + 4))
        augmented[:n, :n], augmented[n:, n:] = self.matrix, self.growth
        augmented[n - self.coefficients : n, n:] = self._force
        first = np.concatenate([self.initial_state, [1.0, start, np.cos(7 * start), np.sin(7 * start)]])
        return np.array([(sla.expm(augmented * (t - start)) @ first)[:n] for t in times])


def system(structure, order=1, damping="none", seed=0, force="constant", singular=True, time=(0.3, 2.0), size=6):
    """Draw a system with eigenvalues left, right and (if ``singular``) at zero."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(size, size))
    if structure == "symmetric":
        eigenvalues = rng.uniform(-20, 1.5, size)
        eigenvalues[:2] *= not singular
        q = np.linalg.qr(matrix)[0]
        matrix = q * eigenvalues @ q.T
        matrix = (matrix + matrix.T) / 2
    elif singular:
        matrix[:, :2] = matrix[:2] = 0
    if structure == "skew-symmetric":
        matrix = matrix - matrix.T
    velocity = {"none": None, "uniform": -0.8 * np.eye(size), "full": rng.normal(size=(size, size))}[damping]
    columns = {"none": 0, "constant": 1, "in time": 4}[force]
    forces = np.zeros((size, 4))
    forces[:, :columns] = rng.normal(size=(size, columns))
    return Linear(matrix, rng.normal(size=size * order), forces, time, order, velocity, structure)


# ---- closed forms ---------------------------------------------------------------------------------

FIRST = [(structure, 1, "none") for structure in ("symmetric", "skew-symmetric", "general")]
SECOND = [(s, 2, d) for s in ("symmetric", "skew-symmetric", "general") for d in ("none", "uniform", "full")]
IN_TIME = [*FIRST, ("symmetric", 2, "none"), ("symmetric", 2, "uniform")]


def check_against_expm(linear, fractions):
    trajectory = fp.integrators.ExactPropagator().integrate(linear)
    assert trajectory.steps == 0
    start, end = linear.time
    times = start + (end - start) * np.array([0.0, *fractions, 1.0])
    expected = linear.exact(times)
    np.testing.assert_allclose(trajectory(times), expected, atol=1e-9 * np.abs(expected).max())
    rates = np.array([linear.rhs(t, y) for t, y in zip(times, expected, strict=True)])
    np.testing.assert_allclose(trajectory.rates(times), rates, atol=1e-8 * np.abs(rates).max())


fractions_of_time = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@pytest.mark.parametrize(("structure", "order", "damping"), [*FIRST, *SECOND])
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    force=st.sampled_from(["none", "constant"]),
    singular=st.booleans(),
    end=st.floats(0.31, 4.0),
    fractions=fractions_of_time,
)
def test_closed_forms_agree_with_expm(structure, order, damping, seed, force, singular, end, fractions):
    check_against_expm(system(structure, order, damping, seed, force, singular, (0.3, end)), fractions)


@pytest.mark.parametrize(("structure", "order", "damping"), IN_TIME)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), end=st.floats(0.31, 9.0), fractions=fractions_of_time)
def test_closed_forms_under_forcing_in_time_agree_with_expm(structure, order, damping, seed, end, fractions):
    check_against_expm(system(structure, order, damping, seed, "in time", False, (0.3, end)), fractions)


@pytest.mark.parametrize(("structure", "order", "damping"), [*FIRST, *SECOND])
@pytest.mark.parametrize("force", ["none", "constant"])
def test_closed_forms_survive_storage(structure, order, damping, force):
    trajectory = fp.integrators.ExactPropagator().integrate(system(structure, order, damping, force=force))
    again = TRAJECTORIES[trajectory.kind](trajectory.arrays())
    times = np.linspace(0.3, 2.0, 7)
    np.testing.assert_array_equal(again(times), trajectory(times))
    np.testing.assert_array_equal(again.rates(times), trajectory.rates(times))


def test_stiff_modes_do_not_spoil_slow_ones():
    eigenvalues = np.array([-1e9, -1e6, -1.0, 0.0, 0.5])
    force = np.zeros((5, 4))
    force[:, 0] = [1e9, 0.0, 0.0, 2.0, 0.0]
    linear = Linear(np.diag(eigenvalues), np.ones(5), force, (0.0, 2.0), structure="symmetric")
    t = 1.5
    expected = [1.0, 0.0, np.exp(-t), 1.0 + 2 * t, np.exp(0.5 * t)]
    found = fp.integrators.ExactPropagator().integrate(linear)(np.array([t]))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_stiff_modes_follow_a_forcing_in_time():
    """λ y + cos 7t with λ = −1e6: the solution is the slowly moving balance, to all digits."""
    force = np.zeros((1, 4))
    force[0, 2] = 1e6
    rate = 1e6
    balance = rate * np.array([rate, 0.0]) / (rate**2 + 49) + rate * np.array([0.0, 7.0]) / (rate**2 + 49)
    linear = Linear(np.array([[-rate]]), np.array([balance[0]]), force, (0.0, 3.0), structure="symmetric")
    times = np.linspace(0, 3, 31)
    expected = balance[0] * np.cos(7 * times) + balance[1] * np.sin(7 * times)
    found = fp.integrators.ExactPropagator().integrate(linear)(times)[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("damping", [0.0, -50.0])
def test_stiff_oscillators_follow_a_forcing_in_time(damping):
    """c'' = −1e6 c + δ c' + 1e6 cos 7t, started on its forced response A cos 7t + B sin 7t."""
    kappa, force = -1e6, np.zeros((1, 4))
    force[0, 2] = 1e6
    a, b = np.linalg.solve([[kappa + 49, 7 * damping], [-7 * damping, kappa + 49]], [-1e6, 0.0])
    velocity = damping * np.eye(1)
    linear = Linear(np.array([[kappa]]), np.array([a, 7 * b]), force, (0.0, 3.0), 2, velocity, "symmetric")
    times = np.linspace(0, 3, 31)
    found = fp.integrators.ExactPropagator().integrate(linear)(times)
    np.testing.assert_allclose(found[:, 0], a * np.cos(7 * times) + b * np.sin(7 * times), atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 7 * (b * np.cos(7 * times) - a * np.sin(7 * times)), atol=1e-6)


def test_fast_oscillations_keep_their_phase():
    """ω = 1e4 over t = 10: 16,000 periods without a single step."""
    linear = Linear(np.array([[-1e8]]), np.array([1.0, 0.0]), np.zeros((1, 4)), (0.0, 10.0), 2, structure="symmetric")
    times = np.linspace(0, 10, 101)
    found = fp.integrators.ExactPropagator().integrate(linear)(times)
    np.testing.assert_allclose(found[:, 0], np.cos(1e4 * times), atol=1e-9)
    np.testing.assert_allclose(found[:, 1], -1e4 * np.sin(1e4 * times), atol=1e-5)


def test_powers_of_exponentials_reach_times_of_a_stiff_matrix():
    basis = np.random.default_rng(0).normal(size=(4, 4))
    matrix = basis @ np.diag([-1e6, -3e3, -1.0, 0.2]) @ np.linalg.inv(basis)
    powers = ScalingAndSquaring(0.0, 2.0, (matrix,), basis @ np.ones(4), 4)
    times = np.array([0.0, 1e-7, 1e-3, 0.1, 1.2345678, 2.0])
    expected = np.exp(np.outer(times, [-1e6, -3e3, -1.0, 0.2])) @ basis.T
    np.testing.assert_allclose(powers(times), expected, atol=1e-8)


def test_an_ill_conditioned_matrix_is_propagated_all_the_same():
    """A Jordan block has no eigenvectors to diagonalise it with."""
    jordan = -np.eye(6) + np.eye(6, k=1)
    powers = ScalingAndSquaring(0.0, 3.0, (jordan,), np.eye(6)[5], 6)
    factorials = np.array([120.0, 24.0, 6.0, 2.0, 1.0, 1.0])
    t = 2.7
    expected = np.exp(-t) * t ** np.arange(5.0, -1, -1) / factorials
    np.testing.assert_allclose(powers(np.array([t]))[0], expected, rtol=1e-13)


class Driven(Linear):
    """y' = −y + f(t), for any function f."""

    def __init__(self, function, time=(0.0, 2.0)):
        super().__init__(np.array([[-1.0]]), np.zeros(1), np.zeros((1, 4)), time, structure="symmetric")
        self.forcing = Load(lambda t: np.array([function(t)]), is_constant=False)


def test_a_jump_of_the_forcing_is_enclosed():
    trajectory = fp.integrators.ExactPropagator().integrate(Driven(lambda t: float(t > 0.7)))
    times = np.linspace(0, 2, 41)
    expected = np.where(times > 0.7, 1 - np.exp(-(times - 0.7)), 0.0)
    np.testing.assert_allclose(trajectory(times)[:, 0], expected, atol=1e-9)


def test_a_short_pulse_is_not_missed():
    """A hundredth of the interval wide; its area is what the solution keeps."""
    trajectory = fp.integrators.ExactPropagator().integrate(Driven(lambda t: np.exp(-(((t - 1.234) / 0.01) ** 2))))
    found = trajectory(np.array([1.0, 2.0]))[:, 0]
    area = 0.01 * np.sqrt(np.pi) * np.exp(0.01**2 / 4)
    np.testing.assert_allclose(found, [0.0, area * np.exp(-(2 - 1.234))], atol=1e-9)


def noise(t):
    return np.sin(1e9 * t) * np.cos(3e8 * t**2)


def test_forcing_that_varies_too_rapidly_is_told():
    message = r"vary too rapidly in time to be interpolated; use integrator='cvode'"
    with pytest.raises(fp.IntegrationError, match=message):
        fp.integrators.ExactPropagator().integrate(Driven(noise))


def test_forcing_that_varies_too_rapidly_goes_to_the_fallback():
    class Recorder:
        name = "recorder"

        def integrate(self, system, observer):
            return "its trajectory"

    with pytest.warns(fp.FrozenPinnWarning, match="vary too rapidly in time to be interpolated; recorder is used"):
        assert fp.integrators.ExactPropagator(fallback=Recorder()).integrate(Driven(noise)) == "its trajectory"


def test_ill_conditioned_eigenvectors_with_forcing_in_time_are_refused():
    jordan, force = -np.eye(6) + np.eye(6, k=1), np.ones((6, 4))
    with pytest.raises(fp.SettingsError, match=r"eigenvectors are too ill conditioned.* use integrator='cvode'"):
        fp.integrators.ExactPropagator().integrate(Linear(jordan, np.ones(6), force))


@pytest.mark.parametrize("name", STEPPERS)
def test_rates_are_the_derivative_of_the_trajectory(name):
    linear = system("symmetric", force="in time", singular=False)
    trajectory = INTEGRATORS[name](1e-8).integrate(linear)
    times = np.linspace(0.35, 1.95, 17)
    expected = np.array([linear.rhs(t, y) for t, y in zip(times, linear.exact(times), strict=True)])
    np.testing.assert_allclose(trajectory.rates(times), expected, atol=2e-4 * np.abs(expected).max())


# ---- dense output ---------------------------------------------------------------------------------


def smooth(t):
    return np.stack([np.sin(3 * t), np.exp(-t) * np.cos(t)], axis=1)


def smooth_rate(t):
    return np.stack([3 * np.cos(3 * t), -np.exp(-t) * (np.cos(t) + np.sin(t))], axis=1)


def hermite_errors(steps, seed=None):
    times = np.linspace(0, 2, steps + 1)
    if seed is not None:
        times[1:-1] += np.random.default_rng(seed).uniform(-0.3, 0.3, steps - 1) * 2 / steps
    trajectory = HermiteTrajectory(times, smooth(times), smooth_rate(times))
    fine = np.linspace(0, 2, 1501)
    return (
        np.abs(trajectory(fine) - smooth(fine)).max(),
        np.abs(trajectory.rates(fine) - smooth_rate(fine)).max(),
    )


@pytest.mark.parametrize("seed", [None, 0], ids=["uniform", "irregular"])
def test_hermite_interpolation_is_of_sixth_order(seed):
    steps = np.array([8, 16, 32, 64])
    errors = np.array([hermite_errors(n, seed) for n in steps])
    values, rates = (-np.polyfit(np.log(steps), np.log(errors[:, k]), 1)[0] for k in (0, 1))
    assert values == pytest.approx(6, abs=0.6)
    assert rates == pytest.approx(5, abs=0.6)


def test_hermite_interpolation_passes_through_its_steps():
    times = np.array([0.0, 0.1, 0.5, 0.55, 1.4, 2.0])
    trajectory = HermiteTrajectory(times, smooth(times), smooth_rate(times))
    assert trajectory.steps == 5
    np.testing.assert_allclose(trajectory(times), smooth(times), atol=1e-14)
    np.testing.assert_allclose(trajectory.rates(times), smooth_rate(times), atol=1e-12)


def test_hermite_interpolation_of_a_single_step_is_cubic():
    times = np.array([1.0, 3.0])
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.25])
    trajectory = HermiteTrajectory(times, cubic(times)[:, None], cubic.deriv()(times)[:, None])
    t = np.linspace(1, 3, 9)
    np.testing.assert_allclose(trajectory(t)[:, 0], cubic(t), rtol=1e-13)


# ---- all integrators on the same problems -------------------------------------------------------------

HEAT = fp.Problem("u_t = u_xx + 1", fp.Interval(0, np.pi), (0.5, 1.0), "sin(x)", "u = 0")
ADVECTION = fp.Problem("u_t + u_x = 0", fp.Interval(0, 2 * np.pi, periodic=True), (0, 1), "sin(x)")
WAVE = fp.Problem("u_tt = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", initial_velocity="sin(2*x)")
PROBLEMS = {"heat": HEAT, "advection": ADVECTION, "wave": WAVE}


def discretized(problem, width=40, cutoff=1e-6):
    points = problem.domain.sample(2 * width)
    hidden = fp.samplers.MultiScale(width).sample(points, 0)
    space = fp.stages.build_space(problem, hidden, points, cutoff=cutoff)
    return fp.stages.discretise(problem, space)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", STEPPERS)
def test_every_integrator_agrees_with_the_exact_propagator(name, problem):
    discrete = discretized(PROBLEMS[problem])
    times = np.linspace(*discrete.time, 23)
    exact = fp.integrators.ExactPropagator().integrate(discrete)(times)
    trajectory = choose_integrator(discrete, name, 1e-8).integrate(discrete)
    assert trajectory.steps > 3
    assert np.abs(trajectory(times) - exact).max() < 1e-6 * np.abs(exact).max()
    np.testing.assert_allclose(trajectory(discrete.time[:1])[0], discrete.initial_state, atol=1e-14)


@pytest.mark.parametrize("name", STEPPERS)
def test_smaller_tolerances_give_smaller_errors(name):
    discrete = discretized(ADVECTION)
    times = np.linspace(*discrete.time, 23)
    exact = fp.integrators.ExactPropagator().integrate(discrete)(times)
    coarse, fine = (
        np.abs(INTEGRATORS[name](tolerance).integrate(discrete)(times) - exact).max() for tolerance in (1e-4, 1e-8)
    )
    assert fine < 0.05 * coarse
    assert coarse < 0.05


@pytest.mark.parametrize("name", sorted(INTEGRATORS))
def test_every_integrator_works_through_solve(name):
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 0.5), "sin(x)", "u = 0", exact="exp(-t)*sin(x)")
    solution = fp.solve(problem, settings=fp.Settings(width=40, cutoff=1e-6, integrator=name, rtol=1e-6))
    assert solution.error()["rel_l2"] < 1e-5
    assert name.split("-")[0] in solution.integrator
    expected = -np.exp(-0.3) * np.sin(1.0)
    assert solution(np.array([1.0]), 0.3, derivative="t")[0] == pytest.approx(expected, rel=1e-4)


def test_objects_and_names_give_the_same_integrator():
    linear = discretized(HEAT)
    assert choose_integrator(linear, "rk45", 1e-7) == fp.integrators.SciPy("rk45", rtol=1e-7)
    assert choose_integrator(linear, "cvode-adams", 1e-7) == fp.integrators.CVODE(rtol=1e-7, method="Adams")
    own = fp.integrators.CVODE(rtol=1e-3)
    assert choose_integrator(linear, own, 1e-7) is own


@pytest.mark.parametrize(
    ("equation", "domain", "expected"),
    [
        ("u_t = u_xx", fp.Interval(0, 1, periodic=True), fp.integrators.ExactPropagator),
        ("u_t = u_xx - u**3", fp.Interval(0, 1, periodic=True), fp.integrators.ETD),
        ("u_t = u_xx + t*sin(2*pi*x)", fp.Interval(0, 1, periodic=True), fp.integrators.ExactPropagator),
        ("u_t = (1 + t/3)*u_xx", fp.Interval(0, 1, periodic=True), fp.integrators.ExponentialCollocation),
        ("u_t = (1 + 3*t)*u_xx", fp.Interval(0, 1, periodic=True), fp.integrators.CVODE),
        ("u_t = (2 + sin(2*pi*x))*u_xx - u**3", fp.Interval(0, 1, periodic=True), fp.integrators.CVODE),
        ("u_t = -u - u**3", fp.Interval(0, 1, periodic=True), fp.integrators.ETD),
        ("u_t = (1 + 0.1*u)*u_x", fp.Interval(0, 10, periodic=True), fp.integrators.SciPy),
    ],
)
def test_the_choice_follows_the_structure(equation, domain, expected):
    problem = fp.Problem(equation, domain, (0, 1), "sin(2*pi*x/10)**2" if domain.upper[0] == 10 else "sin(2*pi*x)")
    assert type(choose_integrator(discretized(problem), None, 1e-8)) is expected


def test_starting_from_zero_is_possible():
    """The absolute tolerance can't follow the size of a solution that starts from nothing."""
    problem = fp.Problem("u_t = u_xx + t*sin(x) - u**3", fp.Interval(0, np.pi), (0, 1), 0, "u = 0")
    discrete = discretized(problem)
    times = np.array([0.5, 1.0])
    reference = fp.integrators.SciPy("radau", rtol=1e-10).integrate(discrete)(times)
    for name in ("cvode", "dop853", "lsoda"):
        found = INTEGRATORS[name](1e-9).integrate(discrete)(times)
        np.testing.assert_allclose(found, reference, atol=1e-7 * np.abs(reference).max())


# ---- failures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("equation", ["u_t = u_xx - u**3", "u_t = (1 + t)*u_xx", "u_tt = u_xx - t*u_t"])
def test_the_exact_propagator_refuses_what_is_not_linear_with_constant_coefficients(equation):
    velocity = {"initial_velocity": 0} if "u_tt" in equation else {}
    problem = fp.Problem(equation, fp.Interval(0, 1), (0, 1), 0, "u = 0", **velocity)
    with pytest.raises(fp.SettingsError, match=r"needs a linear equation whose coefficients.* use integrator='cvode'"):
        fp.solve(problem, settings=fp.Settings(width=20, integrator="exact"))


def test_unknown_integrators_are_refused_with_the_known_ones():
    known = ", ".join(f"'{name}'" for name in sorted({"exact", *STEPPERS, *INTEGRATORS}))
    with pytest.raises(fp.SettingsError, match=rf"unknown integrator 'euler'; choose one of {known}\."):
        fp.solve(HEAT, settings=fp.Settings(width=20, integrator="euler"))
    with pytest.raises(fp.SettingsError, match=r"unknown SciPy method 'euler'; choose one of 'bdf', 'dop853'"):
        fp.integrators.SciPy("euler")


def test_an_unknown_cvode_method_is_refused():
    """'bdf' in small letters would silently run without the exact Jacobian."""
    with pytest.raises(fp.SettingsError, match="'BDF'"):
        fp.integrators.CVODE(method="bdf")


BLOW_UP = fp.Problem("u_t = u**2", fp.Interval(0, 1, periodic=True), (0, 2), 1)


@pytest.mark.parametrize("name", [None, "cvode", "cvode-adams", "rk45", "dop853", "lsoda"])
def test_blow_up_is_told_with_its_time_and_the_part_before_it_is_kept(name):
    discrete = discretized(BLOW_UP)
    with pytest.raises(fp.IntegrationError) as caught:
        choose_integrator(discrete, name, 1e-8).integrate(discrete)
    error = caught.value
    assert error.time == pytest.approx(1.0, abs=1e-5)
    text = str(error)
    assert re.search(r"stopped at t = (1|0\.99999\d*) \(of 2\)", text)
    assert re.search(r"Last step \S+, ", text)
    assert "spectral abscissa of the linear part 0" in text
    assert "may blow up in finite time" in text
    times = np.array([0.0, 0.3, 0.6, 0.9])
    states = error.trajectory(times)
    growth = states @ discrete.initial_state / (discrete.initial_state @ discrete.initial_state)
    np.testing.assert_allclose(growth, 1 / (1 - times), rtol=1e-4)


def test_blow_up_reaches_the_user_through_solve():
    with pytest.raises(fp.IntegrationError, match=r"stopped at t = 1 \(of 2\): the solution grows without bound"):
        fp.solve(BLOW_UP, settings=fp.Settings(width=30))


def test_too_many_steps_are_told():
    with pytest.raises(fp.IntegrationError, match="more than 10 steps were needed") as caught:
        fp.integrators.CVODE(rtol=1e-10, max_steps=10).integrate(discretized(HEAT))
    assert caught.value.trajectory.steps >= 10


def broken_source(x, t):
    return np.where(t > 0.5, np.nan, np.sin(x))


@pytest.mark.parametrize("name", [None, *STEPPERS])
@pytest.mark.parametrize("equation", ["u_t = u_xx + f", "u_t = u_xx + f*u"])
def test_a_user_function_that_breaks_down_is_named_with_the_place(name, equation):
    problem = fp.Problem(equation, fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0", parameters={"f": broken_source})
    discrete = discretized(problem, 30, 1e-4)
    with pytest.raises(
        fp.EvaluationError, match=r"parameter 'f' is nan at x = \(?\S+\)?, t = 0\.[5-9]\d*; it must be finite"
    ):
        choose_integrator(discrete, name, 1e-6).integrate(discrete)


def breaking_down(term):
    """The solution exists until t = 0.5, where ``term`` is no longer a real number."""
    return discretized(fp.Problem(f"u_t = u_xx + {term}", fp.Interval(0, np.pi), (0, 1), "sin(x)", "u = 0"), 30, 1e-4)


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize("term", ["sqrt(0.5 - t)*sin(x)", "sqrt(0.5 - t)*u", "log(0.5 - t)*u**2"])
def test_an_expression_that_breaks_down_is_an_integration_error(name, term):
    """Neither NumPy warnings nor SciPy's own complaints (LU of a Jacobian with NaN) get through."""
    discrete = breaking_down(term)
    with pytest.raises(fp.IntegrationError, match=r"stopped at t = 0\.") as caught:
        choose_integrator(discrete, name, 1e-6).integrate(discrete)
    assert caught.value.time == pytest.approx(0.5, abs=0.1)
    assert np.all(np.isfinite(caught.value.trajectory(np.array([0.2, 0.4]))))


@pytest.mark.parametrize("name", [None, "exact", "cvode", "dop853"])
def test_the_error_says_that_something_is_not_finite(name):
    """'May blow up or form a shock' alone would misdirect, and so would 'varies too rapidly'."""
    discrete = breaking_down("sqrt(0.5 - t)*sin(x)")
    with pytest.raises(fp.FrozenPinnError, match="not finite"):
        choose_integrator(discrete, name, 1e-6).integrate(discrete)


@pytest.mark.parametrize(
    ("equation", "velocity"),
    [("u_t = -u_xx", None), ("u_t = -u_xx + u_x", None), ("u_tt = -u_xx", 0)],
    ids=["modes", "ladder", "oscillators"],
)
def test_an_ill_posed_equation_is_an_integration_error(equation, velocity):
    """Backward diffusion and the like overflow within the interval; no NumPy warning, no inf in the answer."""
    problem = fp.Problem(equation, fp.Interval(0, np.pi), (0, 100), "sin(x)", "u = 0", initial_velocity=velocity)
    with pytest.raises(fp.ProblemError, match="ill posed"):
        fp.check(problem)
    with pytest.raises(fp.IntegrationError, match=r"not finite|overflows"):
        solve_once(
            problem, Task(fp.Settings(width=60, cutoff=1e-8), 0, Tolerances.of(None, None), kind=Evolution()), Hints()
        )


# ---- accuracy of modes, narrow pulses -----------------------------------------------------------------


@pytest.mark.parametrize("growth", [0.0, 40.0])
def test_small_eigenvalues_are_accurate_beside_large_ones(growth):
    """Eigenvalues from 1 to 1e12 in a random basis: the small ones would be lost to round-off of the large ones."""
    rng = np.random.default_rng(3)
    exact = growth - np.concatenate([[1.0, 2.0, 5.0], np.geomspace(1e6, 1e12, 20)])
    # a graded matrix, as in a basis that is ordered from smooth to rough
    vectors = np.linalg.qr(np.eye(23) + 1e-3 * np.triu(rng.normal(size=(23, 23)), 1) / np.abs(exact))[0]
    matrix = (vectors * exact) @ vectors.T
    eigenvalues, found = symmetric_modes((matrix + matrix.T) / 2, rate=1.0)
    assert np.allclose(np.sort(eigenvalues), np.sort(exact), rtol=1e-9, atol=1e-9)
    assert np.allclose(found.T @ found, np.eye(23), atol=1e-12)


@pytest.mark.parametrize("width", [3e-3, 1e-3])
@pytest.mark.parametrize("centre", [0.5, 0.7123])
def test_a_narrow_pulse_of_the_load_is_not_stepped_over(width, centre):
    """∂ₜu = ∂ₓₓu + sin(x)·pulse(t): the mode receives the pulse's integral, then decays."""
    pulse = f"exp(-((t - {centre})/{width})**2)/({width}*sqrt(pi))"
    problem = fp.Problem(f"u_t = u_xx + sin(x)*{pulse}", fp.Interval(0, np.pi), (0, 1), "0", "u = 0")
    value = float(fp.solve(problem)(np.pi / 2, 1.0))
    assert value == pytest.approx(np.exp(-(1 - centre) + width**2 / 4), rel=1e-7)


def test_radau_takes_over_where_bdf_gets_stuck():
    """Third derivatives with conditions at both ends: BDF's steps stay short, whatever the accuracy."""
    boundary = {"left": "u = 0", "right": ["u = 0", "u_x = 0"]}
    problem = fp.Problem("u_t + 6*u*u_x + u_xxx = 0", fp.Interval(-12, 18), (0, 1.5), "2/cosh(x)**2", boundary)
    by_bdf = fp.solve(problem, settings=fp.Settings(width=250, rtol=1e-5, windows=None))
    assert choose_integrator(by_bdf.system, None, 1e-7) == fp.integrators.CVODE(1e-7, fallback=SciPy("radau", 1e-7))
    impatient = fp.integrators.CVODE(1e-7, fallback=SciPy("radau", 1e-7), trial=600)
    by_radau = fp.solve(problem, settings=fp.Settings(width=250, rtol=1e-5, windows=None, integrator=impatient))
    assert (by_bdf.trajectory.name, by_radau.trajectory.name) == ("cvode-bdf", "scipy-radau")
    assert 5 * by_radau.trajectory.steps < by_bdf.trajectory.steps
    x = np.linspace(-12, 18, 300)
    for solution in (by_bdf, by_radau):
        assert np.max(np.abs(solution(x, 1.5) - 2 / np.cosh(x - 6) ** 2)) < 1e-3


# ---- large systems ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "domain", "velocity"),
    [
        ("u_t = 0.1*u_xx - u**3 + x*t", fp.Interval(0, 1), None),
        ("u_tt = u_xx - u**3 - u_t", fp.Interval(0, 1), "x*(1 - x)"),
        ("u_t = 0.1*lap(u) - u*u_x", fp.Box([0, 0], [1, 1]), None),  # with a preconditioner
        ("u_t = 0.1*lap(u) + x*y", fp.Box([0, 0], [1, 1]), None),
    ],
)
def test_products_with_the_jacobian_do_what_its_matrix_does(equation, domain, velocity):
    start = "*".join(f"sin(pi*{name})" for name in domain.coordinates)
    problem = fp.Problem(equation, domain, (0, 0.5), start, "u = 0", velocity)
    common = {"width": 12, "windows": None, "rtol": 1e-6, "subspace": None}
    dense = fp.solve(problem, settings=fp.Settings(integrator=fp.integrators.CVODE(1e-8), **common))
    free = fp.integrators.CVODE(1e-8, linear_solver="krylov")
    krylov = fp.solve(problem, settings=fp.Settings(integrator=free, **common))
    x = domain.sample(30, "random", 0).x
    assert krylov.integrator == "cvode-bdf"
    np.testing.assert_allclose(krylov(*x.T, 0.5), dense(*x.T, 0.5), atol=1e-7)


def test_large_systems_are_solved_reported_and_stored_without_their_matrix(tmp_path):
    box, start = fp.Box([0, 0, 0], [1, 1, 1]), "sin(pi*x)*sin(pi*y)*sin(2*pi*z)"
    exact = f"{start}*exp(-6*pi**2*t)"
    problem = fp.Problem("u_t = lap(u)", box, (0, 0.01), start, "u = 0", exact=exact)
    solution = fp.solve(problem, settings=fp.Settings(width=28, subspace=None))
    assert solution.system.size > 5000
    assert solution.error()["rel_l2"] < 1e-8
    assert solution.report.spectral_abscissa == pytest.approx(-3 * np.pi**2)
    assert solution.report.choices["time"].startswith("linear, diffusion-like: in closed form")
    solution.save(tmp_path / "large.fpinn")
    loaded = fp.load(tmp_path / "large.fpinn")
    assert str(loaded.report) == str(solution.report)
    assert loaded(0.3, 0.4, 0.2, 0.005) == pytest.approx(float(solution(0.3, 0.4, 0.2, 0.005)), abs=1e-12)


@pytest.mark.parametrize("equation", ["u_t = (1 + x*y)*lap(u)", "u_t = (1 + t)*0.1*lap(u) - u*u_x*u_y"])
def test_what_lies_between_operators_may_be_large(equation, monkeypatch):
    """Coefficients and Jacobians at all points have many more entries than the matrix that is made of them."""
    problem = fp.Problem(equation, fp.Box([0, 0], [1, 1]), (0, 0.05), "sin(pi*x)*sin(pi*y)", "u = 0")
    settings = fp.Settings(width=10, rtol=1e-6, integrator="cvode", subspace=None)
    expected = fp.solve(problem, settings=settings)(0.3, 0.4, 0.05)
    monkeypatch.setattr("frozenpinn.operators.protocol.Operator.dense.__defaults__", (7000,))
    found = fp.solve(problem, settings=settings)
    assert found.system.size**2 <= 7000 < len(found.collocation) * found.system.size
    assert found(0.3, 0.4, 0.05) == pytest.approx(float(expected), abs=1e-9)

"""Exponential Adams methods: weights, order, step control, output, failures."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.integrator_choice import choose_integrator
from frozenpinn.integrators import etd
from frozenpinn.integrators.decomposition import Decomposition
from frozenpinn.integrators.duhamel import PLACES, LoadTrajectory, lagrange, moments, phi_functions
from frozenpinn.operators import Dense
from frozenpinn.operators.eigen import Distinct

STRING = fp.Interval(0, np.pi)
CIRCLE = fp.Interval(0, 2 * np.pi, periodic=True)


def exact_phi(z):
    """φ₁ … φ₉ by their series, or by the recurrence with digits to spare."""
    with mpmath.workdps(100):
        z = mpmath.mpf(z)
        if abs(z) < 1:
            return np.array([float(sum(z**j / mpmath.factorial(j + k) for j in range(40))) for k in range(1, 10)])
        values = [mpmath.exp(z)]
        for k in range(9):
            values.append((values[-1] - 1 / mpmath.factorial(k)) / z)
        return np.array([float(v) for v in values[1:]])


@pytest.mark.parametrize("z", [0.0, 1e-12, -1e-5, -0.3, 0.7, -2.0, 3.0, -12.5, 15.0, -39.9, -40.1, -250.0, -1e4, -1e9])
def test_phi_functions_to_the_last_digits(z):
    assert np.max(np.abs(phi_functions(np.array([z]), 9)[:, 0] / exact_phi(z) - 1)) < 2e-13


@pytest.mark.parametrize("z", [30.0, 40.1, 90.0])
def test_phi_functions_of_strong_growth_are_accurate_against_the_growth(z):
    assert np.max(np.abs(phi_functions(np.array([z]), 9)[:, 0] - exact_phi(z))) < 1e-13 * np.exp(z)


def test_moments_integrate_polynomials_of_degree_eight():
    for z in (-7.0, -55.0):
        with mpmath.workdps(40):
            exact = mpmath.quad(lambda s, z=z: mpmath.exp((1 - s) * z) * (2 * s - 1) ** 8, [0, 0.5, 0.9, 1])
        assert moments(np.array([z]))[:, 0] @ (2 * PLACES - 1) ** 8 == pytest.approx(float(exact), rel=1e-12)


def test_lagrange_reproduces_polynomials():
    nodes, places = np.array([0.0, -1.0, -1.7, -3.0]), np.linspace(-3, 1, 7)
    assert np.allclose(lagrange(nodes, places) @ (nodes**3 - nodes), places**3 - places)


class Small:
    """Three modes, one stiff, one growing; z = (cos t, sin 2t, cos t · sin t) solves it."""

    eigenvalues = np.array([-2.0, -500.0, 0.5])
    time, size = (0.0, 4.0), 3
    linear = SimpleNamespace(abscissa=0.5)
    forcing = SimpleNamespace(is_separable=False, is_constant=True)
    shortest = np.inf

    def exact(self, t):
        return np.array([np.cos(t), np.sin(2 * t), np.cos(t) * np.sin(t)])

    def exact_rate(self, t):
        return np.array([-np.sin(t), 2 * np.cos(2 * t), np.cos(2 * t)])

    def coupling(self, z):
        return np.array([z[1] * z[2], z[0] ** 2, z[0] * z[1] - z[2] ** 3])

    def load(self, t, z):
        target = self.exact(t)
        return self.exact_rate(t) - self.eigenvalues * target + self.coupling(z) - self.coupling(target)

    def modal_semilinear(self, *_):
        return self.load

    def rhs(self, t, z):
        return self.eigenvalues * z + self.load(t, z)

    @property
    def initial_state(self):
        return self.exact(0.0)

    @property
    def parts(self):
        return Decomposition(self.eigenvalues, np.eye(3), np.eye(3))


def march(system, rtol):
    return etd._March(system, system.parts, etd.ETD(rtol)).run()


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_the_error_follows_the_tolerance_at_steps_and_between(rtol):
    system = Small()
    trajectory = march(system, rtol)
    times = np.linspace(0, 4, 173)
    exact = np.stack([system.exact(t) for t in times])
    rates = np.stack([system.exact_rate(t) for t in times])
    assert np.max(np.abs(trajectory(times) - exact)) < 100 * rtol + 1e-13
    assert np.max(np.abs(trajectory.rates(times)[:, [0, 2]] - rates[:, [0, 2]])) < 1e3 * rtol + 1e-12
    steps = march(system, 1e-3 * rtol).steps if rtol > 1e-9 else 3 * trajectory.steps
    assert steps < 3.5 * trajectory.steps + 40


def test_order_eight_with_steps_of_one_length(monkeypatch):
    errors = []
    system = Small()
    monkeypatch.setattr(etd._March, "_norm", lambda *_: 0.5)
    for h in (0.1, 0.05):
        monkeypatch.setattr(etd._March, "_quantise", lambda *_, h=h: h)
        monkeypatch.setattr(etd._March, "_start", exact_start(h))
        trajectory = march(system, 1e-3)
        errors.append(np.max(np.abs(trajectory.states[-1] - system.exact(4.0))))
    assert np.log2(errors[0] / errors[1]) > 7.3


def exact_start(h):
    def start(self, _):
        system = self.guard.system
        self.recent[0], self.count = self.n, 1
        for k in range(1, etd._ORDER):
            z = system.exact(k * h)
            self._accept(h, k * h, z, system.load(k * h, z))
        return h

    return start


def test_etdrk4_has_order_four():
    system, errors = Small(), []
    for count in (40, 80):
        h = 1.0 / count
        stepper, z = etd._Krogstad(Distinct.of(system.eigenvalues[[0, 2]]), h), system.exact(0.0)[[0, 2]]

        def load(t, z):
            return system.load(t, np.array([z[0], np.sin(2 * t), z[1]]))[[0, 2]]

        for k in range(count):
            z = stepper.step(load, k * h, z, load(k * h, z))
        errors.append(np.max(np.abs(z - system.exact(1.0)[[0, 2]])))
    assert 3.7 < np.log2(errors[0] / errors[1]) < 4.5


def reaction(rate=1.0):
    """u = e^{-t} sin x solves u_t = u_xx + r (u − u³) + f."""
    return fp.Problem(
        "u_t = u_xx + r*(u - u**3) + f",
        STRING,
        (0, 1),
        "sin(x)",
        "u = 0",
        parameters={"r": rate, "f": "-r*(exp(-t)*sin(x) - exp(-3*t)*sin(x)**3)"},
        exact="exp(-t)*sin(x)",
    )


@pytest.mark.parametrize("rate", [1.0, 30.0])
def test_reaction_and_diffusion_with_forcing_in_time(rate):
    solution = fp.solve(reaction(rate), settings=fp.Settings(integrator="etd", rtol=1e-9))
    assert solution.integrator == "etd"
    assert solution.error()["rel_l2"] < (1e-10 if rate == 1 else 5e-8)


def test_boundary_values_that_move_and_coefficients_in_time():
    """u = sin(x + t) between moving ends: lifting in the pointwise part, in the forcing, and a(t) u u_x."""
    u, a = "sin(x + t)", "(1 + t/2)"
    f = f"cos(x + t) + sin(x + t) + {a}*sin(x + t)*cos(x + t)"
    problem = fp.Problem(f"u_t + {a}*u*u_x = u_xx + {f}", fp.Interval(0, 1), (0, 1), "sin(x)", f"u = {u}", exact=u)
    assert fp.solve(problem, settings=fp.Settings(integrator="etd", rtol=1e-9)).error()["rel_l2"] < 1e-9


def test_several_fields_agree_with_cvode():
    problem = fp.Problem(
        ["u_t = 0.01*u_xx - u*v**2 + (1 - u)/20", "v_t = 0.005*v_xx + u*v**2 - v/10"],
        CIRCLE,
        (0, 5),
        {"u": "1 - exp(-4*(x - 3)**2)/2", "v": "exp(-4*(x - 3)**2)/4"},
    )
    agree(problem, 1e-7)


def test_growing_and_decaying_waves_agree_with_cvode():
    problem = fp.Problem("u_t + u*u_x + u_xx + u_xxxx/8 = 0", CIRCLE, (0, 2), "cos(x)*(1 + sin(x))")
    by_etd, by_cvode = agree(problem, 1e-6)
    assert by_etd.trajectory.steps < by_cvode.trajectory.steps


def agree(problem, bound):
    pair = [
        fp.solve(problem, settings=fp.Settings(width=80, integrator=name, rtol=1e-7, windows=None))
        for name in ("etd", "cvode")
    ]
    x, t = np.linspace(0, 2 * np.pi, 41)[:, None], np.linspace(*problem.time, 11)
    for field in problem.fields:
        first, second = (s(x, t, field=field) for s in pair)
        assert np.max(np.abs(first - second)) < bound
    return pair


def prepared(problem, width=60):
    points = problem.domain.sample(3 * width)
    space = fp.stages.build_space(problem, fp.samplers.MultiScale(width).sample(points, 0), points, cutoff=1e-9)
    return fp.stages.discretise(problem, space)


def test_the_load_in_modal_coordinates_is_that_of_the_system():
    problem = fp.Problem(
        "u_t + (1 + t)*u*u_x = u_xx + exp(x*t)", fp.Interval(0, 1), (0, 1), "1 + x", "u = 1 + x + t*(1 - x)"
    )
    system = prepared(problem)
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(system.size, system.size)))[0]
    load = system.modal_semilinear(Dense(vectors), Dense(vectors.T))
    for t in (0.0, 0.7):
        y = np.random.default_rng(1).normal(size=system.size)
        expected = vectors.T @ system.semilinear(np.array([t]), y[None])[0]
        assert np.allclose(load(t, vectors.T @ y), expected, rtol=1e-10, atol=1e-10 * np.linalg.norm(expected))


def test_a_monitor_stops_it():
    system = prepared(reaction())
    observer = fp.integrators.Observer(stop=lambda t, y: t > 0.3 and np.isfinite(y @ y))
    trajectory = fp.integrators.ETD(1e-8).integrate(system, observer)
    assert 0.3 < trajectory.end < 0.6
    last = trajectory(np.array([trajectory.end]))[0]
    assert np.allclose(last, trajectory.vectors @ trajectory.states[-1])


def test_states_that_fill_the_memory_are_told():
    system = prepared(reaction())
    integrator = fp.integrators.ETD(1e-8)
    each, steps = 16.0 * system.size, integrator.integrate(system).steps  # a state and a load
    integrator.integrate(system, fp.integrators.Observer(room=each * steps))
    with pytest.raises(
        fp.BudgetError, match=r"up to t = 0\.\d+ \(of 1\) take .*B, all of the memory that is left; about"
    ):
        integrator.integrate(system, fp.integrators.Observer(room=each * (steps - 3)))


def test_blow_up_is_told_and_keeps_what_was_computed():
    problem = fp.Problem("u_t = 0.01*u_xx + u**2", fp.Interval(0, 1, periodic=True), (0, 2), "1 + 0*x")
    with pytest.raises(fp.IntegrationError, match=r"etd stopped at t = (1|0\.99)") as caught:
        fp.solve(problem, settings=fp.Settings(width=20, integrator="etd", windows=None))
    assert 0.99 < caught.value.time <= 1.01
    assert np.all(np.isfinite(caught.value.trajectory(np.array([0.5]))))


def test_a_fallback_puts_its_own_name_on_the_result():
    problem = fp.Problem("u_t = 0.01*u_xx + u**2", fp.Interval(0, 1, periodic=True), (0, 2), "1 + 0*x")
    with pytest.raises(fp.IntegrationError, match=r"cvode-bdf stopped at t = (1|0\.99)"):
        fp.solve(
            problem,
            settings=fp.Settings(
                width=20, integrator=fp.integrators.ETD(1e-8, fallback=fp.integrators.CVODE(1e-8)), windows=None
            ),
        )


def cahn_hilliard(end=4.0):
    """A pattern that forms and then rests, while 3u²·u_xx stays stiff."""
    equation = "u_t = 6*u*u_x**2 + 3*u**2*u_xx - u_xx - u_xxxx/100"
    return fp.Problem(equation, CIRCLE, (0, end), "cos(x)/2 + sin(3*x)/10")


def test_a_stiff_load_with_a_slow_solution_is_handed_over():
    system = prepared(cahn_hilliard())
    fallback = fp.integrators.CVODE(1e-8)
    alone, handed = fp.integrators.ETD(1e-8).integrate(system), fp.integrators.ETD(1e-8, fallback).integrate(system)
    assert (alone.name, handed.name) == ("etd", "cvode-bdf")
    assert handed.steps < 0.5 * alone.steps
    times = np.linspace(0, 4, 7)
    assert np.allclose(alone(times), handed(times), atol=1e-5)


def test_a_load_as_stiff_as_the_linear_part_is_handed_over_at_once(monkeypatch):
    system = prepared(fp.Problem("u_t = u_xx/1000 + (1 + u**2)*u_xx", CIRCLE, (0, 1), "1 + cos(x)/2"))
    calls, semilinear = [], fp.stages.Discretisation.modal_semilinear

    def counted(self, *arguments):
        load = semilinear(self, *arguments)
        return lambda t, z: (calls.append(t), load(t, z))[1]

    monkeypatch.setattr(fp.stages.Discretisation, "modal_semilinear", counted)
    trajectory = fp.integrators.ETD(1e-6, fallback=Refusing()).integrate(system)
    assert trajectory == "refused"
    assert 0 < len(calls) < 200


class Refusing:
    name = "refusing"

    def integrate(self, system, observer):
        return "refused"


@pytest.mark.parametrize(
    ("equation", "initial"),
    [("u_t + u*u_x + u_xx + u_xxxx/8 = 0", "cos(x)"), ("u_t = u_xx/10 + u - u**3", "sin(x)")],
    ids=["waves", "reaction"],
)
def test_it_is_chosen_where_the_linear_part_is_symmetric(equation, initial):
    problem = fp.Problem(equation, CIRCLE, (0, 1), initial)
    chosen = choose_integrator(prepared(problem), None, 1e-8)
    assert isinstance(chosen, fp.integrators.ETD)
    assert isinstance(chosen.fallback, fp.integrators.CVODE)
    assert fp.solve(problem, settings=fp.Settings(width=60, windows=None)).integrator == "etd"


@pytest.mark.parametrize(
    "problem",
    [
        fp.Problem("u_t = u_xx/100 + u_x - u**3", STRING, (0, 1), "sin(x)", "u = 0"),
        fp.Problem("u_t + u*u_x + u_xxx = 0", CIRCLE, (0, 1), "cos(x)"),
        fp.Problem("u_tt = u_xx - sin(u)", CIRCLE, (0, 1), "cos(x)", initial_velocity=0),
    ],
    ids=["general", "dispersion", "wave"],
)
def test_other_systems_are_refused(problem):
    with pytest.raises(fp.SettingsError, match="linear part is symmetric; use integrator='exponential'"):
        fp.solve(problem, settings=fp.Settings(integrator="etd", width=40))


def test_values_that_are_not_finite_at_the_start():
    system = Small()
    system.load = lambda t, z: np.full(3, np.nan)
    with pytest.raises(fp.IntegrationError, match="not finite"):
        march(system, 1e-6)


def test_too_many_steps():
    system = Small()
    with pytest.raises(fp.IntegrationError, match="more than 12 steps") as caught:
        etd._March(system, system.parts, etd.ETD(1e-8, max_steps=12)).run()
    assert caught.value.trajectory.steps == 12


def test_a_kink_in_time_is_passed():
    problem = fp.Problem(
        "u_t = u_xx - u**3 + f",
        STRING,
        (0, 1),
        0,
        "u = 0",
        parameters={"f": "(1 + sign(t - 0.437))*sin(x)"},
    )
    by_etd, by_cvode = (
        fp.solve(problem, settings=fp.Settings(width=60, integrator=name, rtol=1e-6)) for name in ("etd", "cvode")
    )
    x = np.linspace(0, np.pi, 21)[:, None]
    for t in (0.4, 0.5, 1.0):
        assert np.allclose(by_etd(x, t), by_cvode(x, t), atol=1e-6)


def test_it_is_stored_and_read_back(tmp_path):
    solution = fp.solve(reaction(), settings=fp.Settings(width=60, integrator="etd", rtol=1e-7))
    solution.save(tmp_path / "reaction.npz")
    again = fp.load(tmp_path / "reaction.npz")
    assert isinstance(again.trajectory, LoadTrajectory)
    x, t = np.linspace(0, np.pi, 11)[:, None], np.linspace(0, 1, 5)
    assert np.allclose(again(x, t), solution(x, t), rtol=0, atol=1e-14)

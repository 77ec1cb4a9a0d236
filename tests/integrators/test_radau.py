"""Radau IIA: order, stiff limits, kept factors, grids of steps, storage, failures."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sps
from scipy.sparse.linalg import splu

import frozenpinn as fp
from frozenpinn.integrators import TRAJECTORIES, Observer, RadauIIA
from frozenpinn.integrators.radau import lagrange, method_of


class Quiet:
    """A forcing that does not change."""

    is_constant = is_separable = True


class Sparse:
    """y' = J y + n(y) with a sparse J; factors are counted."""

    shortest, linear, forcing = np.inf, SimpleNamespace(abscissa=0.0), Quiet()

    def __init__(self, matrix, start, time=(0.0, 1.0), cubic=0.0):
        self.matrix, self.initial_state, self.time, self.cubic = sps.csc_matrix(matrix), start, time, cubic
        self.size, self.has_constant_coefficients, self.factorised = len(start), cubic == 0, 0

    def rhs(self, t, y):
        return self.matrix @ y - self.cubic * y**3

    def rates(self, times, states):
        return np.array([self.rhs(t, y) for t, y in zip(times, states, strict=True)])

    def linearised(self, t, y):
        jacobian = self.matrix - sps.diags(3 * self.cubic * y**2)

        def shifted(shift):
            self.factorised += 1
            return splu((shift * sps.eye(self.size) - jacobian).tocsc())

        return SimpleNamespace(shifted=shifted)


def rod(n=200, **options):
    """Heat on a rod by differences; its first mode decays at a known rate."""
    h = np.pi / (n + 1)
    matrix = sps.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) / h**2
    return Sparse(matrix, np.sin(h * np.arange(1, n + 1)), **options), -(2 - 2 * np.cos(h)) / h**2


def ring(n=64):
    """Rotation: eigenvalues on the imaginary axis."""
    first = sps.diags([-1.0, 1.0], [-1, 1], shape=(n, n)).tolil()
    first[0, -1], first[-1, 0] = -1.0, 1.0
    x = 2 * np.pi * np.arange(n) / n
    return Sparse(first * n / (4 * np.pi), np.cos(x), time=(0.0, 20.0)), np.sin(2 * np.pi / n) * n / (2 * np.pi), x


@pytest.mark.parametrize("stages", [3, 5, 7])
def test_stages_integrate_polynomials_and_damp_what_is_infinitely_fast(stages):
    method = method_of(stages)
    matrix = np.linalg.inv(method.inverse)
    powers = np.arange(2 * stages - 1)
    assert matrix[-1] @ method.points[:, None] ** powers == pytest.approx(1 / (powers + 1), rel=1e-11)
    assert 1 - np.sum(matrix[-1] @ method.inverse) == pytest.approx(0, abs=1e-10)  # R(∞)


@pytest.mark.parametrize(("stages", "order"), [(3, 5), (5, 9)])
def test_order(stages, order):
    method, errors = method_of(stages), []
    for h in (2.0, 1.0):  # one step of y' = iy
        z = np.linalg.solve(method.inverse / h - 1j * np.eye(stages), 1j * np.ones(stages))
        errors.append(abs(1 + z[-1] - np.exp(1j * h)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.6)


@pytest.mark.parametrize("stages", [3, 5, 7])
def test_heat_with_few_factors(stages):
    system, rate = rod()
    found = RadauIIA(1e-9, stages).integrate(system)
    times = np.linspace(0, 1, 7)
    exact = np.exp(rate * times)[:, None] * system.initial_state
    assert np.max(np.abs(found(times) - exact)) < 3e-8
    assert np.max(np.abs(found.rates(times) - rate * exact)) < 1e-5
    assert system.factorised <= 3 * (stages + 1) / 2  # a few lengths of steps at most
    assert np.all(np.log2(np.diff(found.times)) % 1 == 0)


def test_smooth_part_after_a_fast_transient():
    system, _ = rod()
    rng = np.random.default_rng(0)
    smooth = system.initial_state
    noise = rng.normal(size=system.size)
    noise -= smooth * (smooth @ noise) / (smooth @ smooth)
    system.initial_state = smooth + 0.1 * noise
    found = RadauIIA(1e-8).integrate(system)
    modes = np.sin(np.outer(np.arange(1, 7), np.pi * np.arange(1, 201) / 201))
    decay = -(2 - 2 * np.cos(np.arange(1, 7) * np.pi / 201)) * (201 / np.pi) ** 2
    start = modes @ system.initial_state * 2 / 201
    assert found(np.array([1.0]))[0] == pytest.approx((np.exp(decay) * start) @ modes, abs=1e-7)


def test_waves_neither_grow_nor_decay_and_take_few_factors():
    system, speed, x = ring()
    found = RadauIIA(1e-8).integrate(system)
    assert np.max(np.abs(found(np.array([20.0]))[0] - np.cos(x + 20 * speed))) < 1e-6
    assert system.factorised <= 9


def test_nonlinear_against_scipy():
    from scipy.integrate import solve_ivp

    system, _ = rod(40, cubic=3.0)
    found = RadauIIA(1e-8).integrate(system)
    other = solve_ivp(
        system.rhs, (0, 1), system.initial_state, method="LSODA", rtol=1e-10, atol=1e-12, t_eval=[0.37, 1]
    )
    assert np.max(np.abs(found(other.t) - other.y.T)) < 1e-7
    assert found.work.jacobians < found.steps


def test_stops_when_asked_and_has_the_same_bits():
    system, _ = rod()
    whole, part = (RadauIIA(1e-8).integrate(system, o) for o in (Observer(), Observer(stop=lambda t, y: t > 0.3)))
    assert 0.3 < part.end < 1.0
    assert np.array_equal(whole(part.times), part(part.times))


def test_storage():
    found = RadauIIA(1e-6).integrate(rod()[0])
    again = TRAJECTORIES[found.kind](found.arrays())
    times = np.linspace(0, 1, 5)
    assert np.array_equal(again(times), found(times))
    assert np.array_equal(again.rates(times), found.rates(times))


def test_blow_up_is_explained():
    system = Sparse(sps.eye(2) * 0.0, np.ones(2), time=(0.0, 2.0), cubic=-1.0)
    with pytest.raises(fp.IntegrationError, match=r"radau-iia-9 stopped at t = 0\.[45]\d* \(of 2\)") as caught:
        RadauIIA(1e-6).integrate(system)
    assert caught.value.trajectory.end < 0.51


def test_number_of_stages_is_checked():
    with pytest.raises(fp.errors.SettingsError, match="RadauIIA has 3, 5 or 7 stages, got 4"):
        RadauIIA(stages=4)


def test_lagrange_differentiates_polynomials():
    nodes, places = np.array([0.0, 0.3, 0.7, 1.0]), np.linspace(0, 1.5, 5)
    assert lagrange(nodes, places, 1) @ nodes**3 == pytest.approx(3 * places**2)


def test_by_name_in_a_solve():
    rod = fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    found = fp.solve(rod, tol=1e-6, settings=fp.Settings(integrator="radau-iia"))
    assert found.integrator == "radau-iia-9"
    assert float(found(0.5, 0.1)) == pytest.approx(float(fp.solve(rod, tol=1e-9)(0.5, 0.1)), abs=1e-6)

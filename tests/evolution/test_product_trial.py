"""Waves on periodic intervals: where they are chosen, and what they give."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.evolution.product_trial import lattice_width
from frozenpinn.search.settings import Task, Tolerances

CYCLE = fp.Interval(0, 2 * np.pi, periodic=True)


def width(problem: fp.Problem, tol: float = 1e-4, **settings: object) -> tuple[int] | None:
    """Return the number of waves that is chosen."""
    return lattice_width(problem, Task(fp.Settings(**settings), 0, Tolerances(tol, tol)))


@pytest.mark.parametrize(
    ("equation", "initial"),
    [
        ("u_t + u*u_x = 0.05*u_xx + 0.02*u_xxx", "sin(x)"),
        ("u_t = 0.1*u_xx + u - u^3", "sin(x)/2"),
        ("u_tt = u_xx - sin(u)", "cos(x)"),
        (["u_t = -v_xx - (u^2 + v^2)*v", "v_t = u_xx + (u^2 + v^2)*u"], {"u": "sin(x)", "v": "0"}),
    ],
)
def test_semilinear_problems_take_few_waves(equation, initial):
    velocity = {"initial_velocity": "0"} if "u_tt" in equation else {}
    found = width(fp.Problem(equation, CYCLE, (0, 0.5), initial, **velocity))
    assert found is not None
    assert 20 <= found[0] <= 200


@pytest.mark.parametrize(
    ("equation", "initial"),
    [
        ("u_t = dx(u*u_x) + 0.01*u_xx", "2 + sin(x)"),  # the nonlinear part leads
        ("u_t = (1 + 0.5*sin(x))*u_xx - u^3", "sin(x)"),  # a coefficient varies
        ("u_t = 0.1*u_xx", "sin(x)"),  # linear: solved in closed form anyway
        ("u_t + u*u_x = 0.1*u_xx", "abs(x - 3)"),  # corners need too many
        ("u_t + u*u_x = 1e-3*u_xx", "sin(x)"),  # a front that few neurons follow
        ("u_t + u*u_x = 0.1*u_xx", "exp(-1e8*(x - 3)^2)"),  # would fall between the points
    ],
)
def test_others_do_not(equation, initial):
    assert width(fp.Problem(equation, CYCLE, (0, 1.5), initial)) is None


def test_settings_of_networks_are_kept():
    problem = fp.Problem("u_t = 0.1*u_xx + u - u^3", CYCLE, (0, 0.5), "sin(x)/2")
    for settings in ({"width": 80}, {"windows": None}, {"integrator": "cvode"}, {"points": 300}):
        assert width(problem, **settings) is None


@pytest.fixture(scope="module")
def train():
    """Return a bump that breaks up into a train of solitons, which a basis of neurons can't follow."""
    problem = fp.Problem(
        "u_t + u*u_x = 1e-4*u_xx + 4e-4*u_xxx",
        fp.Interval(0, 4, periodic=True),
        (0, 1.5),
        "exp(6.5*(cos(pi*(x - 1)/2) - 1))",
    )
    return fp.solve(problem, tol=1e-3)


def fourier(problem: fp.Problem, x: np.ndarray, count: int = 768, steps: int = 6000) -> np.ndarray:
    """Return the solution at the end by an independent Fourier method: integrating factor, classical Runge–Kutta."""
    length, t = float(problem.domain.lengths[0]), problem.time[1]
    places, k = length * np.arange(count) / count, 2 * np.pi / length * np.arange(count // 2 + 1)
    rates, h = -1e-4 * k**2 - 4e-4j * k**3, t / steps
    half, kept = np.exp(rates * h / 2), np.arange(len(k)) < count / 3
    v = np.fft.rfft(np.exp(6.5 * (np.cos(np.pi * (places - 1) / 2) - 1)))

    def rate(w):
        return -0.5j * k * kept * np.fft.rfft(np.fft.irfft(kept * w) ** 2)

    for _ in range(steps):
        a = h * rate(v)
        b = h * rate(half * (v + a / 2))
        c = h * rate(half * v + b / 2)
        d = h * rate(half * half * v + half * c)
        v = half * half * v + (half * half * a + 2 * half * (b + c) + d) / 6
    waves = np.exp(1j * np.outer(x, k))
    return (waves[:, 0] * v[0] + 2 * waves[:, 1:-1] @ v[1:-1]).real / count


def test_soliton_train_is_solved(train):
    assert train.verdict.status == "converged"
    assert isinstance(train.pieces[0].expansions[0].basis, ProductNetwork)
    x = np.linspace(0.01, 3.97, 301)
    wanted = fourier(train.problem, x)
    error = np.linalg.norm(train(x, 1.5) - wanted) / np.linalg.norm(wanted)
    assert error <= 1e-3
    assert train.error_estimate.worst >= error / 10


def test_solution_on_waves_can_be_kept_and_evaluated(train, tmp_path):
    train.save(tmp_path / "train.npz")
    again = fp.load(tmp_path / "train.npz")
    x = np.linspace(0, 4, 57)
    np.testing.assert_array_equal(again(x, 1.1), train(x, 1.1))
    np.testing.assert_allclose(train(0.0, 1.1), train(4.0, 1.1), atol=1e-12)
    step = 1e-5
    slope = (train(x + step, 0.7) - train(x - step, 0.7)) / (2 * step)
    np.testing.assert_allclose(train(x, 0.7, derivative="x"), slope, atol=1e-4)

"""Nonlinear problems with exact or independently converged references, solved with default settings.

Each bound is about three times the largest error seen over three seeds.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import frozenpinn as fp
from frozenpinn_lab.calibration import collection


def soliton(domain, end, speed, start=0.0):
    """Nonlinear Schrödinger equation i ψ_t + ψ_xx/2 + |ψ|² ψ = 0, ψ = u + i v: a wave that keeps its shape."""
    phase = "c*x + (1 - c**2)*t/2"
    exact = {name: f"{wave}({phase})/cosh(x - a - c*t)" for name, wave in (("u", "cos"), ("v", "sin"))}
    return fp.Problem(
        ["u_t = -v_xx/2 - (u**2 + v**2)*v", "v_t = u_xx/2 + (u**2 + v**2)*u"],
        domain,
        (0, end),
        {"u": "cos(c*x)/cosh(x - a)", "v": "sin(c*x)/cosh(x - a)"},
        None if domain.periodic[0] else [fp.Dirichlet(text, field=name) for name, text in exact.items()],
        parameters={"c": speed, "a": start},
        exact=exact,
    )


def standing_soliton():
    """A narrow wave on a long circle."""
    return soliton(fp.Interval(-25, 25, periodic=True), 6, 0)


def burgers_front(viscosity):
    """A front of width 4ν that crosses half of the domain."""
    exact = "1/2 - tanh((x + 1/3 - t/2)/(4*nu))/2"
    return fp.Problem(
        "u_t + u*u_x = nu*u_xx",
        fp.Interval(-1, 1),
        (0, 1),
        "1/2 - tanh((x + 1/3)/(4*nu))/2",
        fp.Dirichlet(exact),
        parameters={"nu": viscosity},
        exact=exact,
    )


@pytest.mark.parametrize(
    "name",
    ["cubic Schrödinger, travelling", "cubic Schrödinger, circle", "Fisher–KPP, slow", "Burgers front, ν = 0.02"],
)
def test_estimates_of_nonlinear_problems(name):
    solution = fp.solve(collection()[name].build())
    for field, estimate in fp.estimate_error(solution).error_estimate.items():
        true = solution.error(field)["rel_l2"]
        assert 0.1 * true < estimate < 10 * max(true, 1e-10)  # below that, balances may say more


@pytest.mark.parametrize(("build", "bound"), [(standing_soliton, 1e-7), (lambda: burgers_front(0.01), 3e-8)])
def test_what_limits_narrow_waves_is_the_width(build, bound):
    solution = fp.solve(build(), settings=fp.Settings(width=400))
    assert max(solution.error(field)["rel_l2"] for field in solution.problem.fields) < bound


# ---- Gray–Scott: a pulse that splits twice, against Fourier collocation ---------------------------------------------

HALF, FEED, KILL, SLOWER = 25.0, 0.04, 0.06, 0.25
TIMES = np.linspace(0, 300, 11)


def fourier_gray_scott(n):
    """Return x and (2, n, times): collocation at n points, DOP853 at 1e-12. Shares nothing with the library."""
    x = -HALF + 2 * HALF * np.arange(n) / n
    wave = np.pi / HALF * np.arange(n // 2 + 1)
    symbol = -(wave**2) * np.array([[1.0], [SLOWER]])
    bump = np.cos(np.pi * x / (2 * HALF)) ** 40

    def rhs(_, y):
        u, v = y.reshape(2, n)
        rate = np.fft.irfft(symbol * np.fft.rfft(y.reshape(2, n)), n)
        rate[0] += FEED * (1 - u) - u * v**2
        rate[1] += u * v**2 - (FEED + KILL) * v
        return rate.ravel()

    start = np.concatenate([1 - bump / 2, bump / 2])
    found = solve_ivp(rhs, (TIMES[0], TIMES[-1]), start, "DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-13)
    return x, found.y.reshape(2, n, -1)


@pytest.fixture(scope="module")
def gray_scott():
    return fourier_gray_scott(128)


def peaks(values):
    return np.sum((values > np.roll(values, 1)) & (values > np.roll(values, -1)) & (values > 0.05))


def test_the_reference_has_converged_and_shows_the_splitting(gray_scott):
    coarse, fine = fourier_gray_scott(96)[1], gray_scott[1]
    assert np.max(np.abs(coarse[:, ::3] - fine[:, ::4])) < 1e-9
    assert [peaks(fine[1, :, k]) for k in (0, 5, 10)] == [1, 2, 4]


def test_gray_scott(gray_scott):
    problem = fp.Problem(
        ["u_t = u_xx - u*v**2 + F*(1 - u)", "v_t = D*v_xx + u*v**2 - (F + k)*v"],
        fp.Interval(-HALF, HALF, periodic=True),
        (TIMES[0], TIMES[-1]),
        {"u": "1 - cos(pi*x/50)**40/2", "v": "cos(pi*x/50)**40/2"},
        parameters={"F": FEED, "k": KILL, "D": SLOWER},
    )
    solution = fp.solve(problem)
    estimate = fp.estimate_error(solution).error_estimate
    x, reference = gray_scott
    for field, values, bound in zip("uv", reference, (1e-9, 4e-9), strict=True):
        error = np.linalg.norm(solution(x[:, None], TIMES, field=field) - values) / np.linalg.norm(values)
        assert error < bound
        assert 0.1 * error < estimate[field] < 10 * error

"""The spectral peer against closed forms, its order in time, and what it refuses."""

import json
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn.errors import EvaluationError, IntegrationError, SettingsError
from frozenpinn_lab.peers import separable, solve_baseline
from frozenpinn_lab.peers.spectral import solve_spectral
from frozenpinn_lab.peers.spectral.functions import Linear, exponential, matrix_functions, phi, step_of
from frozenpinn_lab.peers.spectral.grid import EVEN, ODD, PERIODIC, Grid, derived

SQUARE = fp.Box([0, 0], [1, 1])
TORUS = fp.Box([-1, -1], [1, 1], periodic=True)


def error(problem, **options):
    return max(solve_spectral(problem, **options).error(name)["rel_l2"] for name in problem.fields)


# ---- waves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [1.0, 2 / 3])
@pytest.mark.parametrize("kinds", [(PERIODIC, PERIODIC), (PERIODIC, EVEN), (ODD, PERIODIC), (EVEN, ODD), (ODD, ODD)])
def test_transforms_and_derivatives_of_a_few_waves(kinds, keep):
    periodic = [kind == PERIODIC for kind in kinds]
    grid = Grid.on(np.array([0.5, -1.0]), np.array([2.5, 2.0]), periodic, (16, 20), keep)

    def wave(kind, s, length, order):
        k, shift = {PERIODIC: (4 * np.pi, 0.3), EVEN: (3 * np.pi, np.pi / 2), ODD: (3 * np.pi, 0.0)}[kind]
        k = k / length
        return k**order * np.sin(k * s + shift + order * np.pi / 2)

    def field(x, alpha):
        return wave(kinds[0], x[:, 0] - 0.5, 2.0, alpha[0]) * wave(kinds[1], x[:, 1] + 1.0, 3.0, alpha[1])

    c = grid.to_coefficients(field(grid.points, (0, 0)).reshape(16, 20), kinds)
    assert c.shape == grid.shape
    anywhere = np.random.default_rng(0).uniform((0.5, -1.0), (2.5, 2.0), (30, 2))
    for alpha in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 3), (4, 1)):
        moved = grid.turned(c * grid.symbol(kinds, alpha), kinds, alpha)
        exact = field(grid.points, alpha)
        size = np.max(np.abs(exact))
        assert np.max(np.abs(grid.to_values(moved, derived(kinds, alpha)).ravel() - exact)) < 1e-11 * size
        sums = separable.evaluate(grid.tables(derived(kinds, alpha)), [moved], anywhere)[:, 0]
        assert np.max(np.abs(sums - field(anywhere, alpha))) < 1e-11 * size


def test_sums_on_tensor_grids_and_at_scattered_points_agree():
    rng = np.random.default_rng(1)
    state = rng.standard_normal((4, 5, 3)) + 1j * rng.standard_normal((4, 5, 3))
    tables = [lambda x, n=n: np.exp(1j * np.multiply.outer(x, np.arange(n))) for n in state.shape]
    axes = [np.sort(rng.random(n)) for n in (6, 2, 3)]
    x = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=1)
    mixed = rng.permutation(len(x))
    together = separable.evaluate(tables, [state, 2 * state], x[mixed])
    alone = np.concatenate([separable.evaluate(tables, [state, 2 * state], rng.random((40, 3))) for _ in range(2)])
    assert alone.shape == (80, 2)
    direct = np.einsum("nabc,abc->n", np.exp(1j * _phases(x[mixed], state.shape)), state).real
    assert np.max(np.abs(together - direct[:, None] * [1, 2])) < 1e-12


def _phases(x, shape):
    a, b, c = (np.arange(n) for n in shape)
    return (
        x[:, 0, None, None, None] * a[:, None, None]
        + x[:, 1, None, None, None] * b[:, None]
        + x[:, 2, None, None, None] * c
    )


# ---- functions of the linear part -----------------------------------------------------------------------


def test_phi_functions_do_not_cancel():
    z = np.array([1e-12, 1e-3, -0.5, 0.999, 1.001, -3.0, -800.0, 2j, 1e-6j])
    for k, found in enumerate(phi(z), start=1):
        augmented = [scipy.linalg.expm(np.diag([v] + [0] * k) + np.diag([1.0] * k, 1))[0, k] for v in z]
        assert np.max(np.abs(found - augmented) / np.abs(augmented)) < 1e-12


@pytest.mark.parametrize("m", [2, 3, 4])
def test_functions_of_small_matrices(m):
    rng = np.random.default_rng(m)
    matrices = rng.standard_normal((6, m, m))
    matrices[1] = np.diag(np.ones(m - 1), 1)  # defective, as the wave equation for the mean
    matrices[2] = np.diag(np.ones(m - 1), 1) + 1e-7 * matrices[2]
    matrices[3] *= 0
    linear = Linear(np.moveaxis(matrices, 0, -1), False)
    (found,) = matrix_functions(exponential, linear, 0.7)
    for a, f in zip(matrices, np.moveaxis(found, -1, 0), strict=True):
        assert np.max(np.abs(f - scipy.linalg.expm(0.7 * a))) < 1e-10
    step = step_of(linear, 0.7)
    for a, f in zip(matrices, np.moveaxis(step.stage, -1, 0), strict=True):
        block = np.block([[0.35 * a, np.eye(m)], [np.zeros((m, 2 * m))]])
        assert np.max(np.abs(f - 0.35 * scipy.linalg.expm(block)[:m, m:])) < 1e-10


# ---- closed forms ---------------------------------------------------------------------------------------


def test_heat_with_sines_and_cosines():
    exact = "exp(-2*pi**2*t)*sin(pi*x)*sin(pi*y)"
    walls = fp.Problem("u_t = lap(u)", SQUARE, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0", exact=exact)
    assert error(walls, modes=6) < 1e-14
    moving = fp.Problem(
        "u_t = lap(u) - 2*u_x",
        fp.Box([0, 0], [1, 2], periodic=[True, False]),
        (0, 0.1),
        "1 + sin(2*pi*x)*cos(pi*y)",
        "u_n = 0",
        exact="1 + exp(-5*pi**2*t)*sin(2*pi*(x - 2*t))*cos(pi*y)",
    )
    assert error(moving, modes=(6, 8)) < 1e-14
    solution = solve_spectral(moving, modes=(6, 8))
    assert (solution.steps, solution.points, solution.size) == (0, 48, 64)
    assert solution(0.3, 0.2, 0.05) == pytest.approx(
        1 + np.exp(-0.25 * np.pi**2) * np.sin(0.4 * np.pi) * np.cos(0.2 * np.pi)
    )


def test_wave_with_a_mean_that_moves():
    wave = fp.Problem(
        "u_tt = lap(u)",
        fp.Box([0] * 3, [1] * 3, periodic=[True, False, True]),
        (0, 1),
        "1 + sin(2*pi*x)*cos(pi*y)*cos(2*pi*z)",
        "u_n = 0",
        initial_velocity=2,
        exact="1 + 2*t + cos(3*pi*t)*sin(2*pi*x)*cos(pi*y)*cos(2*pi*z)",
    )
    assert error(wave, modes=6) < 1e-14


def test_linear_systems_are_exact():
    # iψ_t = −½Δψ of a plane wave, and three fields that turn into each other
    phase = "(3*x - y - 5*t)"
    packet = fp.Problem(
        ["u_t = -lap(v)/2", "v_t = lap(u)/2"],
        fp.Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True),
        (0, 2),
        {"u": "cos(3*x - y)", "v": "sin(3*x - y)"},
        exact={"u": f"cos{phase}", "v": f"sin{phase}"},
    )
    assert error(packet, modes=10) < 1e-13
    sound = fp.Problem(
        ["p_t = -u_x - v_y", "u_t = -p_x", "v_t = -p_y"],
        fp.Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True),
        (0, 2),
        {"p": "1 + cos(3*x + 4*y)", "u": "0.6*cos(3*x + 4*y)", "v": "0.8*cos(3*x + 4*y)"},
        exact={k: f"{m} + {a}*cos(3*x + 4*y - 5*t)" for k, m, a in (("p", 1, 1), ("u", 0, 0.6), ("v", 0, 0.8))},
    )
    assert error(sound, modes=12) < 1e-13


def test_forcing_and_coefficients_in_time_and_space():
    exact = "exp(-t)*(2 + sin(pi*x))*cos(pi*y)"
    forced = fp.Problem(
        "u_t = lap(u) + (1 + t)*cos(pi*x)*u_y + f",
        TORUS,
        (0, 1),
        "(2 + sin(pi*x))*cos(pi*y)",
        parameters={
            "f": "exp(-t)*cos(pi*y)*(-2 - sin(pi*x) + pi**2*(2 + 2*sin(pi*x)))"
            "+ (1 + t)*cos(pi*x)*pi*exp(-t)*(2 + sin(pi*x))*sin(pi*y)"
        },
        exact=exact,
    )
    assert error(forced, modes=12, step=0.02) < 1e-6


def test_steady_forcing_is_exact():
    problem = fp.Problem("u_t = u_xx + sin(x)", fp.Interval(0, np.pi), (0, 1), 0, "u = 0", exact="(1 - exp(-t))*sin(x)")
    assert error(problem, modes=4, step=0.5) < 1e-14


# ---- order in time --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "boundary"),
    [
        ("u_t = 0.05*lap(u) + u - u**3", None),
        ("u_t = 0.05*lap(u) + u - u**3 - 0.1*u*(u_x**2 + u_y**2)", "u_n = 0"),
        ("u_tt = lap(u) - u - u**3", None),
    ],
)
def test_order_four(equation, boundary):
    domain = TORUS if boundary is None else fp.Box([-1, -1], [1, 1])
    more = {"initial_velocity": 0} if "u_tt" in equation else {}
    problem = fp.Problem(equation, domain, (0, 1), "cos(pi*x)*cos(pi*y) + 0.2", boundary, **more)
    x = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    values = [solve_spectral(problem, modes=20, step=h)(x, 1.0) for h in (0.1, 0.05, 0.025)]
    first, second = (np.max(np.abs(a - b)) for a, b in pairwise(values))
    assert 3.5 < np.log2(first / second) < 4.8


def test_times_between_steps():
    problem = fp.Problem(
        "u_t = 0.1*u_xx - u**3", fp.Interval(0, 2 * np.pi, periodic=True), (1, 2), "1 + 0*x", exact="1/sqrt(2*t - 1)"
    )
    solution = solve_spectral(problem, modes=4, step=0.03)
    assert solution.steps == 34
    t = np.array([1.0, 1.01, 1.03, 1.5, 1.777, 2.0])
    assert np.max(np.abs(solution(0.3, t) - 1 / np.sqrt(2 * t - 1))) < 1e-7


def test_states_that_are_not_kept_are_computed_again(monkeypatch):
    problem = fp.Problem("u_t = 0.1*lap(u) - u**3", TORUS, (0, 1), "cos(pi*x)")
    whole = solve_spectral(problem, modes=8, step=0.1)
    monkeypatch.setattr("frozenpinn_lab.peers.spectral.solve._MEMORY", 2000.0)
    sparse = solve_spectral(problem, modes=8, step=0.1)
    assert sparse.state.stride > 1
    for t in (0.05, 0.3, 0.99, 1.0):
        assert sparse(0.2, 0.1, t) == whole(0.2, 0.1, t)


def test_all_axes_may_be_taken_as_periodic():
    problem = fp.Problem(
        "u_t = 0.01*lap(u) - u_x",
        fp.Box([-2, -2], [2, 2]),
        (0, 0.2),
        "exp(-20*(x**2 + y**2))",
        "u = 0",
        exact="exp(-20*((x - t)**2 + y**2)/(1 + 0.8*t))/(1 + 0.8*t)",
    )
    with pytest.raises(SettingsError, match="does not go with sines along 'x': some of its terms are not odd"):
        solve_spectral(problem, modes=48)
    assert error(problem, modes=48, periodic=True) < 1e-6


# ---- refusals -------------------------------------------------------------------------------------------


def stated(equation="u_t = lap(u)", domain=SQUARE, boundary="u = 0", initial="sin(pi*x)*sin(pi*y)"):
    return fp.Problem(equation, domain, (0, 0.1), initial, boundary)


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (
            lambda: stated(domain=fp.Ball(dimension=2), initial="1 - x**2 - y**2"),
            "boxes of one, two or three dimensions, not on",
        ),
        (
            lambda: fp.Problem("u_t = lap(u)", fp.Box([0] * 4, [1] * 4, periodic=True), (0, 1), 1),
            "boxes of one, two or three dimensions",
        ),
        (
            lambda: stated(
                boundary={"left": "u = 0", "right": "u_n = 0", "bottom": "u = 0", "top": "u = 0"}, initial=0
            ),
            "the same conditions at both ends of axis 'x', u = 0 for sines or u_n = 0 for cosines",
        ),
        (lambda: stated(boundary="u = 1", initial=1), "right-hand side 0 only, got 'u = 1' on 'left'"),
        (lambda: stated(boundary="u + u_n = 0", initial=0), r"has no waves for 'u \+ u_n = 0' on 'left'"),
        (lambda: stated("u_t = lap(u) + u**2"), "does not go with sines along 'x'"),
        (lambda: stated("u_t = lap(u) + u_x", boundary="u_n = 0", initial=1), "does not go with cosines along 'x'"),
    ],
)
def test_what_waves_can_not_express_is_refused(problem, text):
    with pytest.raises(SettingsError, match=text):
        solve_spectral(problem(), modes=8, step=0.01)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"modes": 2},
            "modes must be a whole number of points of at least 4, even along periodic axes, or 2 of them; got 2",
        ),
        ({"modes": (8, 9)}, r"got \(8, 9\)"),
        ({"modes": (8, 8, 8)}, r"got \(8, 8, 8\)"),
        ({"modes": 8.0}, "got 8.0"),
        ({"modes": 8, "keep": 0}, "keep must be a fraction of the waves, 0 < keep ≤ 1, got 0"),
        ({"modes": 8}, "needs a time step for 'u_t = .*', such as step=0.01, got None"),
        ({"modes": 8, "step": -1}, "such as step=0.01, got -1"),
    ],
)
def test_settings_are_checked(options, text):
    problem = fp.Problem("u_t = lap(u) - u**3", TORUS, (0, 1), "cos(pi*x)")
    with pytest.raises(SettingsError, match=text):
        solve_baseline("spectral", problem, **options)


def test_unstable_steps_are_told():
    problem = fp.Problem("u_t = -5*u*u_x", fp.Interval(-1, 1, periodic=True), (0, 40), "sin(pi*x)")
    with pytest.raises(
        IntegrationError, match=r"steps of the spectral baseline, 0.5, are unstable: not finite at t = "
    ):
        solve_spectral(problem, modes=64, step=0.5)


def test_budget():
    problem = fp.Problem("u_t = lap(u) - u**3", TORUS, (0, 1), "cos(pi*x)")
    with pytest.raises(IntegrationError, match="budget of 1e-09 s was exceeded"):
        solve_spectral(problem, modes=8, step=0.1, seconds=1e-9)


def test_fields_must_be_named():
    problem = fp.Problem(["u_t = lap(v)", "v_t = -lap(u)"], TORUS, (0, 1), {"u": "cos(pi*x)", "v": 0})
    solution = solve_spectral(problem, modes=8)
    assert solution(0.1, 0.1, 0.5, field="v").shape == ()
    with pytest.raises(EvaluationError, match="say which field"):
        solution(0.1, 0.1, 0.5)


# ---- on the command line --------------------------------------------------------------------------------


def test_bench():
    arguments = ["bench", "heat-anisotropic-2d", "--method", "spectral", "--seeds", "1", "--json", "-"]
    records = json.loads(CliRunner().invoke(cli.app, arguments, catch_exceptions=False).stdout)
    assert [r["variant"] for r in records] == ["along the axes", "oblique"]
    assert [r["points"] for r in records] == [16**2, 64**2], "the second has settings of its own"
    assert all(r["status"] == "ok" and r["rel_l2"]["mean"] < 1e-6 and r["stopped"] == [False] for r in records)

"""Gradient-trained networks: derivatives, residuals, optimizers, budget and failures."""

import sys
import time

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import EvaluationError, IntegrationError, SettingsError
from frozenpinn.language.jets import Jet
from frozenpinn_lab.cases.pinn_settings import SETTINGS
from frozenpinn_lab.peers.pinn import TrainedNetwork, solve_pinn
from frozenpinn_lab.peers.pinn.monitor import Monitor
from frozenpinn_lab.peers.pinn.taylor import directional

jax = pytest.importorskip("jax")
pytest.importorskip("optax")

SMALL = {"layers": 2, "width": 10, "interior": 200, "conditions": 90}
TINY = {**SMALL, "layers": 1}


def heat(**changes):
    given = {"equation": "u_t = u_xx", "boundary": "u = 0", "exact": "exp(-t)*sin(x)", **changes}
    return fp.Problem(domain=fp.Interval(0, np.pi), time=(0, 1), initial="sin(x)", **given)


def plane(periodic=False):
    domain = fp.Box([-1, 0], [2, 1], periodic=[periodic, False])
    return fp.Problem("u_t = lap(u)", domain, (0, 2), "sin(2*pi/3*x)*y*(1 - y)", fp.Free())


def untrained(problem, layers=1, width=10, **options):
    from frozenpinn_lab.peers.pinn.network import FullyConnected

    network = FullyConnected(problem, layers, width, **options)
    return TrainedNetwork(problem, network, network.initial(np.random.default_rng(0)), 0, Monitor(None))


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


# ---- derivatives --------------------------------------------------------------------------------


def nested(function, axes):
    """Differentiate by nested forward mode."""
    for axis in axes:
        inner, direction = function, np.zeros(3)
        direction[axis] = 1.0

        def function(z, inner=inner, direction=direction):
            return jax.jvp(inner, (z,), (np.broadcast_to(direction, z.shape),))[1]

    return function


@pytest.mark.parametrize(
    ("embedding", "kinds"),
    [
        (False, ["", "t", "xy", "tt", "xyt", "xxxx"]),
        (True, ["x", "xy", "xxx"]),
    ],
)
def test_derivatives_of_the_network_are_those_of_nested_differentiation(embedding, kinds):
    from frozenpinn_lab.peers.pinn.network import FullyConnected

    problem = plane(periodic=embedding)
    network = FullyConnected(problem, 2, 7, periodic_embedding=embedding)
    rng = np.random.default_rng(1)
    parameters = network.initial(rng)
    z = problem.domain.sample(9, "random", rng).x
    z = np.column_stack([z, rng.uniform(0, 2, 9)])
    jets = [Jet("u", (axes.count("x"), axes.count("y")), 0, axes.count("t")) for axes in kinds]

    def value(z):
        return network.values(parameters, z, [Jet("u", (0, 0))])[0]

    for axes, a in zip(kinds, network.values(parameters, z, jets), strict=True):
        b = nested(value, ["xyt".index(c) for c in axes])(z)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.max(np.abs(b)), err_msg=axes)


@pytest.mark.parametrize("embedding", [False, True])
def test_laplacians_are_sums_of_second_derivatives(embedding):
    from frozenpinn_lab.peers.pinn.network import FullyConnected

    problem = plane(periodic=embedding)
    network = FullyConnected(problem, 3, 6, periodic_embedding=embedding)
    rng = np.random.default_rng(2)
    z = np.column_stack([problem.domain.sample(8, "random", rng).x, rng.uniform(0, 2, 8)])
    jets = [Jet("u", (0, 0), laps) for laps in (1, 2)]
    jets += [Jet("u", alpha) for alpha in [(2, 0), (0, 2), (4, 0), (2, 2), (0, 4)]]
    parameters = network.initial(rng)
    one, two, xx, yy, x4, mixed, y4 = network.values(parameters, z, jets)
    np.testing.assert_allclose(one, xx + yy, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(two, x4 + 2 * mixed + y4, rtol=1e-9, atol=1e-9)


def test_a_network_of_one_neuron_has_known_derivatives():
    trained = untrained(heat(), width=1)
    trained.parameters = [(np.array([[0.7], [0.3]]), np.array([0.1])), (np.array([[2.0]]), np.array([0.5]))]
    x, t = np.array([0.2, 2.0]), np.array([0.1, 0.9])
    y = np.tanh(0.7 * (x / (np.pi / 2) - 1) + 0.3 * (2 * t - 1) + 0.1)
    a = 0.7 / (np.pi / 2)
    np.testing.assert_allclose(trained(x, t), 2 * y + 0.5)
    np.testing.assert_allclose(trained(x, t, derivative="x"), 2 * a * (1 - y**2))
    np.testing.assert_allclose(trained(x, t, derivative="xx"), -4 * a**2 * y * (1 - y**2))
    np.testing.assert_allclose(trained(x, t, derivative="xt"), -4 * a * 0.6 * y * (1 - y**2))
    third = 2 * a**3 * (1 - y**2) * (6 * y**2 - 2)
    np.testing.assert_allclose(trained(x, t, derivative="xxx"), third)
    np.testing.assert_allclose(trained(x, t, derivative="xxxx"), 2 * a**4 * (1 - y**2) * y * (16 - 24 * y**2))


def test_mixed_derivatives_of_monomials():
    for alpha in [(1, 1), (2, 1), (2, 2), (1, 1, 1), (3, 1), (1, 1, 1, 1)]:
        table, order = directional(alpha), sum(alpha)
        for beta in np.ndindex(*(order + 1,) * len(alpha)):
            if sum(beta) == order:  # D_v^k of a monomial of degree k at 0 is k!·Π vᵢ^βᵢ
                value = sum(c * np.prod(np.array(v, dtype=float) ** beta) for v, c in table.items())
                expected = 1.0 if beta == alpha else 0.0
                fact = np.prod([float(np.prod(np.arange(1, a + 1))) for a in alpha])
                total = float(np.prod(np.arange(1, order + 1)))
                assert value * total == pytest.approx(expected * fact, abs=1e-9)


# ---- residuals ----------------------------------------------------------------------------------


class Exact:
    """A known solution in the place of the network."""

    def __init__(self, problem):
        self.problem = problem

    def values(self, parameters, z, jets):
        result = []
        for jet in jets:
            derivative = self.problem.jets.differentiate(self.problem.exact[jet.field].expression, jet)
            result.append(np.broadcast_to(self.problem.compile([derivative])(*z.T)[0], len(z)))
        return result


def forcing(x, t):
    u = np.exp(-t) * np.sin(x)
    return -u + u * np.exp(-t) * np.cos(x) - u**3


def known_problems():
    interval = fp.Interval(0, np.pi)
    yield "heat", heat()
    yield "beam", fp.Problem(
        "u_tt + u_xxxx = (1 - 16*pi**2)*sin(x)*cos(4*pi*t)",
        interval, (0, 1), "sin(x)", ["u = 0", "u_xx = 0"], 0, exact="sin(x)*cos(4*pi*t)",
    )  # fmt: skip
    yield (
        "advection",
        fp.Problem("u_t + 3*u_x = 0", fp.Interval(0, 2 * np.pi, periodic=True), (0, 1), "sin(x)", exact="sin(x - 3*t)"),
    )
    yield "nonlinear", fp.Problem(
        "u_t + u*u_x = f(x, t) + u**3",
        interval, (0, 1), "sin(x)", {"left": "u = 0", "right": fp.Free()},
        parameters={"f": forcing},
        exact="exp(-t)*sin(x)",
    )  # fmt: skip
    yield "disk", fp.Problem(
        "u_t = (1 + x**2)*lap(u) + t*u_xy + x**2 + y**2 + x*y - 4*t*(1 + x**2) - t**2",
        fp.Disk(), (0, 1), "0", "u_n = 2*t*(x**2 + y**2 + x*y)", exact="t*(x**2 + y**2 + x*y)",
    )  # fmt: skip
    yield "system", fp.Problem(
        ["u_t = v_x", "v_t = u_x"], fp.Box([0], [2 * np.pi], periodic=True), (0, 1),
        {"u": "sin(x)", "v": "sin(x)"}, exact={"u": "sin(x + t)", "v": "sin(x + t)"},
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
@pytest.mark.parametrize("name", ["heat", "beam", "advection", "nonlinear", "disk", "system"])
def test_residuals_of_known_solutions_vanish(name):
    from frozenpinn_lab.peers.pinn.residual import condition_blocks, equations, stratified

    problem = dict(known_problems())[name]
    rng = np.random.default_rng(3)
    z = np.column_stack([problem.domain.sample(20, "random", rng).x, stratified(problem.time, 20, rng)])
    blocks = [equations(problem, z, 1.0), *condition_blocks(problem, 60, 1.0, rng)]
    for block in blocks:
        for residual in block.residuals(Exact(problem), None, block.rows):
            assert np.max(np.abs(residual)) < 1e-10
    wrong = equations(problem, z, 1.0).residuals(Shifted(problem), None, blocks[0].rows)
    if name in ("nonlinear", "disk"):
        assert max(np.max(np.abs(r)) for r in wrong) > 1e-3


class Shifted(Exact):
    def values(self, parameters, z, jets):
        return [v + 0.1 for v in super().values(parameters, z, jets)]


def test_gradients_in_groups_are_those_of_the_whole_loss():
    from frozenpinn_lab.peers.pinn.loss import squares
    from frozenpinn_lab.peers.pinn.network import FullyConnected
    from frozenpinn_lab.peers.pinn.solve import _objective, read_settings

    problem, rng = heat(), np.random.default_rng(0)
    network = FullyConnected(problem, 2, 6)
    objective = _objective(problem, network, read_settings("lbfgs", {**SMALL, "weights": (0.3, 2.0)}), rng)
    objective.group = 64
    parameters = network.initial(rng)
    loss, gradient, _ = jax.jit(objective.gradient)(parameters, objective.rows)

    def whole(p):
        blocks = [objective.interior, *objective.conditions]
        return sum(b.weights @ squares(b, network, p, b.rows) for b in blocks)

    value, expected = jax.jit(jax.value_and_grad(whole))(parameters)
    assert float(loss) == pytest.approx(float(value), rel=1e-12)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert float(sum(np.sum(b.weights) for b in objective.conditions)) == pytest.approx(4.0)  # initial and boundary


def test_causal_weights_fall_with_the_losses_before():
    from frozenpinn_lab.peers.pinn.network import FullyConnected
    from frozenpinn_lab.peers.pinn.solve import _objective, read_settings

    problem, rng = heat(), np.random.default_rng(0)
    network = FullyConnected(problem, 1, 5)
    settings = read_settings("causal", {**SMALL, "interior": 120, "levels": 6, "epsilons": (0.5, 3.0)})
    objective = _objective(problem, network, settings, rng)
    parameters, rows = network.initial(rng), objective.rows
    residual = objective.interior.residuals(network, parameters, objective.interior.rows)[0]
    losses = np.mean(np.asarray(residual).reshape(6, 20) ** 2, axis=1)
    expected = np.exp(-0.5 * np.concatenate([[0.0], np.cumsum(losses)[:-1]]))
    weights = objective.weights(parameters, rows)
    np.testing.assert_allclose(weights, expected, rtol=1e-10)
    new, frozen = (objective._interior(parameters, {**rows, "control": c}) for c in (rows["control"], weights))
    assert float(new[0]) == pytest.approx(float(expected @ losses) / 6)
    for a, b in zip(jax.tree.leaves(new), jax.tree.leaves(frozen), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)
    assert not objective.advance(0.5)
    assert objective.advance(0.995)
    assert float(objective.rows["control"]) == 3.0


# ---- training -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("optimizer", "changes"),
    [
        ("adam", {"adam_steps": 1500, "learning_rate": 1e-2}),
        ("lbfgs", {"lbfgs_steps": 300}),
        ("causal", {"adam_steps": 400, "lbfgs_steps": 300, "levels": 20, "batch": 200, "learning_rate": 1e-2}),
    ],
)
def test_training_solves_the_heat_equation(optimizer, changes):
    trained = solve_pinn(heat(), optimizer=optimizer, seed=1, checkpoints=(0.1,), **{**SMALL, **changes})
    assert trained.error()["rel_l2"] < 1e-2
    assert 0 < trained.errors[0][0] < trained.seconds
    assert not trained.stopped
    assert 0 < trained.compile_seconds < trained.seconds
    seconds, iterations, losses = zip(*trained.history, strict=True)
    assert np.all(np.diff(seconds) >= 0)
    assert iterations[-1] == trained.iterations
    assert losses[-1] < losses[0]


def test_the_same_seed_gives_the_same_network():
    results = [solve_pinn(heat(), optimizer="adam", seed=4, adam_steps=20, batch=50, **TINY) for _ in range(2)]
    assert results[0](1.0, 0.5) == results[1](1.0, 0.5)
    first, other = (results[0].network.initial(np.random.default_rng(seed))[0][0] for seed in (4, 5))
    assert not np.array_equal(first, other)


def test_a_spent_budget_stops_the_training():
    trained = solve_pinn(heat(), optimizer="adam", seconds=1e-3, **TINY)
    assert trained.stopped
    assert trained.iterations == 0
    assert np.isfinite(trained.error()["rel_l2"])


def test_the_clock_stands_still_while_errors_are_measured():
    started = time.perf_counter()
    monitor = Monitor(10.0, (0.0, 1e3), lambda parameters: time.sleep(0.3) or parameters)
    assert monitor.record(5, 1.0, lambda: 0.25)
    assert monitor.elapsed < time.perf_counter() - started - 0.3
    assert [error for _, error in monitor.errors] == [0.25]
    monitor.budget = 0.0
    assert not monitor.record(2, 0.5, lambda: 0.1)
    assert (monitor.stopped, monitor.iterations, len(monitor.errors)) == (True, 7, 1)


def test_a_periodic_embedding_is_periodic():
    problem = dict(known_problems())["advection"]
    trained = untrained(problem, periodic_embedding=True)
    for derivative in ("", "x", "xx"):
        low, high = (trained(x, 0.4, derivative=derivative) for x in (0.0, 2 * np.pi))
        assert low == pytest.approx(float(high), abs=1e-9)


def test_errors_at_given_points_are_those_of_the_formula():
    trained = untrained(heat())
    x, t = np.linspace(0, np.pi, 7), np.linspace(0, 1, 100)
    exact = np.exp(-t) * np.sin(x[:, None])
    found = trained(x[:, None], t)
    assert trained.error(at=x)["rel_l2"] == pytest.approx(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    with pytest.raises(EvaluationError, match="outside"):
        trained(4.0, 0.5)


# ---- failures -----------------------------------------------------------------------------------


def test_divergence_is_an_error():
    with pytest.raises(IntegrationError, match="the loss of the PINN is nan"):
        solve_pinn(heat(equation="u_t = u_xx + log(u - 100)", exact=None), lbfgs_steps=10, **TINY)


@pytest.mark.parametrize("missing", ["jax", "optax"])
def test_without_jax_the_error_says_what_to_install(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SettingsError, match=r"needs jax and optax: pip install './lab\[peers\]'"):
        solve_pinn(heat())


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"optimizer": "sgd"}, "unknown optimizer 'sgd'"),
        ({"depth": 3}, "unknown hyper-parameter 'depth'"),
        ({"width": 0}, "width must be a positive whole number"),
        ({"lbfgs_steps": 0}, "must be positive"),
    ],
)
def test_wrong_settings_are_refused(given, text):
    with pytest.raises(SettingsError, match=text):
        solve_pinn(heat(), **given)


def test_settings_are_consistent():
    for methods in SETTINGS.values():
        for method, training in methods.items():
            training.settings.check()
            assert training.settings.optimizer in method

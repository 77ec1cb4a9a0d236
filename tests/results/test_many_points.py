"""Very many points: the same values as a few at a time, grids axis by axis, in little memory and reproducibly."""

import tracemalloc

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebvander

import frozenpinn as fp
from frozenpinn.basis import along_axes
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.piecewise import tabulated
from frozenpinn.results import many_points

RNG = np.random.default_rng(0)
MANY = 10_000
PLATE = {"left": "u = 0", "right": "u = y*cos(t)", "bottom": "u = 0", "top": "u = 2*x*cos(t)"}
SINES = "sin(pi*x)*sin(pi*y)"


def solved(equation, domain, end, initial, conditions=None, width=24, **options):
    problem = fp.Problem(equation, domain, (0, end), initial, conditions, **options)
    return fp.solve(problem, settings=fp.Settings(width=width))


ENDS = {"left": "u = sin(3*t)", "right": "u = cos(2*t)"}
WAVES = {"u": "cos(pi*x/3)", "v": 0}
LINE, SQUARE, RING = fp.Interval(0, 1), fp.Box([0, 0], [1, 1], periodic=True), fp.Interval(0, 6, periodic=True)
BURGERS = ("u_t = 0.005*u_xx - u*u_x", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
DIFFUSION = "u_t = 0.1*lap(u)"
COUPLED = {"u": "cos(pi*x)", "v": "1 + x**2*(1 - x)**2"}
COUPLING = {"left": ["u = v", "u_x + v_x = 0"], "right": ["u_x = 0", "v_x = 0"]}
KINDS = {
    "heat": lambda: solved("u_t = 0.1*u_xx", LINE, 1, "sin(5*pi*x)", "u = 0", 100),
    "ring": lambda: solved("u_t = -u_x", RING, 1, "exp(sin(pi*x/3))", width=100),
    "data": lambda: solved("u_t = u_xx", LINE, 1, "x", ENDS, 80),
    "string": lambda: solved("u_tt = u_xx", LINE, 1, "sin(pi*x)", "u = 0", 80, initial_velocity="sin(2*pi*x)"),
    "windows": lambda: fp.solve(fp.Problem(*BURGERS), tol=1e-3),
    "system": lambda: solved(["u_t = -v_xx", "v_t = u_xx"], RING, 1, WAVES, width=60),
    "plate": lambda: solved(DIFFUSION, fp.Box([0, 0], [1, 2]), 0.5, f"{SINES} + x*y", PLATE),
    "torus": lambda: solved("u_t = 0.01*lap(u) + u - u**3", SQUARE, 0.5, "sin(2*pi*x)*cos(2*pi*y)", width=16),
    "cube": lambda: solved(DIFFUSION, fp.Box([0] * 3, [1] * 3), 0.5, f"{SINES}*sin(pi*z)", "u = 0", 10),
    "disk": lambda: solved(DIFFUSION, fp.Disk([0, 0], 1), 0.5, "1 - x**2 - y**2", "u = 0", 150),
    "subspace": lambda: solved(DIFFUSION, fp.Box([0] * 4, [1] * 4), 0.5, "cos(pi*x1)*cos(pi*x2)", "u_n = 0", 16),
    "coupled": lambda: solved(["v_t = 0.1*v_xx", "u_t = 0.1*u_xx"], LINE, 1, COUPLED, COUPLING, 60),
    "units": lambda: solved("u_t = 0.1*u_xx", LINE, 1, "1e-9*sin(pi*x)", "u = 0", 60),
}


@pytest.fixture(scope="module")
def solution_of():
    known = {}
    return lambda kind: known[kind] if kind in known else known.setdefault(kind, KINDS[kind]())


@pytest.fixture
def tables_used(monkeypatch):
    """Use tables for few points already; count how often they are."""
    monkeypatch.setattr(many_points, "_WORTH", 0.0)
    used = []
    for kind in (many_points.Snapshots, many_points.History):
        own = kind.from_tables
        monkeypatch.setattr(kind, "from_tables", lambda f, own=own: used.append(len(f.x)) or own(f))
    return used


def places_in(solution, count=MANY):
    domain = solution.problem.domain
    return domain.sample(count, "random", 1).x


def compare(solution, x, t, monkeypatch, derivative="", tolerance=1e-13):
    """Values from tables against direct ones, in units of the field's size and of the round-off in direct values."""
    field = solution.problem.fields[0]
    found = solution(*x.T, t, derivative=derivative, field=field)
    few = slice(0, None, 10)
    when = t if np.ndim(t) == 0 else t[few]
    with monkeypatch.context() as direct:
        direct.setattr(many_points, "_FEWEST", 10**9)
        direct.setattr(along_axes, "_MANY", 10**9)
        direct.setattr(many_points, "_FEWEST_PAIRS", 10**9)
        expected = solution(*x[few].T, when, derivative=derivative, field=field)
        noise, moved = 0.0, x[few]
        for _ in range(3):
            moved = np.nextafter(moved, solution.problem.domain.center)
            changed = solution(*moved.T, when, derivative=derivative, field=field)
            noise = max(noise, np.max(np.abs(changed - expected)))
    assert np.max(np.abs(found[few] - expected)) < tolerance * np.max(np.abs(expected)) + 5 * noise


@pytest.mark.parametrize("kind", KINDS)
def test_one_time(kind, solution_of, tables_used, monkeypatch):
    solution = solution_of(kind)
    compare(solution, places_in(solution), solution.problem.time[1] * 0.4, monkeypatch)
    assert tables_used


@pytest.mark.parametrize("kind", KINDS)
def test_pairs(kind, solution_of, tables_used, monkeypatch):
    solution = solution_of(kind)
    x = places_in(solution)
    compare(solution, x, RNG.uniform(*solution.problem.time, len(x)), monkeypatch, tolerance=5e-13)
    assert tables_used


@pytest.mark.parametrize("kind", ["data", "string", "windows", "plate", "disk"])
@pytest.mark.parametrize("derivative", ["xx", "t"])
def test_derivatives(kind, derivative, solution_of, tables_used, monkeypatch):
    solution = solution_of(kind)
    x = places_in(solution)
    compare(solution, x, solution.problem.time[1] * 0.4, monkeypatch, derivative, 1e-12)
    compare(solution, x, RNG.uniform(*solution.problem.time, len(x)), monkeypatch, derivative, 1e-12)
    assert tables_used


@pytest.mark.parametrize("kind", ["data", "windows", "plate"])
def test_stored_solutions(kind, solution_of, tables_used, monkeypatch, tmp_path):
    solution_of(kind).save(tmp_path / "s.npz")
    solution = fp.load(tmp_path / "s.npz")
    x = places_in(solution)
    compare(solution, x, RNG.uniform(*solution.problem.time, len(x)), monkeypatch)
    assert tables_used


def test_many_times_and_points(solution_of, tables_used):
    solution = solution_of("heat")
    x, t = places_in(solution, 5000)[:, 0], np.linspace(0, 1, 100)
    found = solution(x[:, None], t)
    assert len(tables_used) == 5  # columns are taken in four blocks
    np.testing.assert_allclose(found[::50], solution(x[::50, None], t), rtol=0, atol=1e-13)


def test_few_points_are_evaluated_directly(solution_of, monkeypatch):
    monkeypatch.setattr(many_points.Snapshots, "from_tables", None)
    for kind in ("heat", "plate", "disk"):
        solution = solution_of(kind)
        x = places_in(solution, 500)
        solution(*x.T, 0.3)
        solution(*x.T, np.linspace(0, 0.5, len(x)))


def test_the_same_call_gives_the_same_bits(solution_of):
    for kind in ("heat", "plate"):
        solution = solution_of(kind)
        x = places_in(solution, 100_000)
        t = RNG.uniform(*solution.problem.time, len(x))
        assert solution(*x.T, t).tobytes() == solution(*x.T, t).tobytes()


def test_points_outside_are_refused(solution_of):
    with pytest.raises(fp.EvaluationError, match=r"the point \(0, 2.1\) lies outside the domain"):
        solution_of("plate")(np.linspace(0, 1, 50)[:, None], np.linspace(2.1, 1, 50), 0.1)


# ---- grids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plate", "torus"])
@pytest.mark.parametrize("derivative", ["", "xy", "yt"])
def test_grids_equal_points(kind, derivative, solution_of):
    solution = solution_of(kind)
    low, high = solution.problem.domain.lower, solution.problem.domain.upper
    x, y, t = np.linspace(low[0], high[0], 7), np.linspace(low[1], high[1], 5), np.linspace(0, 0.5, 3)
    full = np.stack(np.meshgrid(x, y, t, indexing="ij"))
    points = solution(*full.reshape(3, -1), derivative=derivative).reshape(7, 5, 3)
    noise = {"atol": 1e-9 * np.max(np.abs(points)), "rtol": 0}
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
        arrays = [np.moveaxis(c[:, None, None], 0, order.index(k)) for k, c in enumerate((x, y, t))]
        found = solution(*arrays, derivative=derivative)
        np.testing.assert_allclose(found, points.transpose(order), **noise)
    np.testing.assert_allclose(solution(x[:, None], y, 0.25, derivative=derivative), points[:, :, 1], **noise)


def test_meshgrids_are_recognised(solution_of, monkeypatch):
    solution = solution_of("plate")
    x, y = np.linspace(0, 1, 90), np.linspace(0, 2, 80)
    sparse = solution(x[:, None], y, 0.2)
    monkeypatch.setattr(many_points, "fast_values", None)
    for indexing, expected in (("ij", sparse), ("xy", sparse.T)):
        mesh = np.meshgrid(x, y, indexing=indexing)
        assert solution(*mesh, 0.2).tobytes() == np.ascontiguousarray(expected).tobytes()
        assert solution(*mesh, np.full(expected.shape, 0.2)).tobytes() == np.ascontiguousarray(expected).tobytes()


def test_repeated_points_give_values_of_the_full_shape(solution_of):
    solution = solution_of("plate")
    found = solution(np.full(5000, 0.3), np.full(5000, 0.4), 0.2)
    assert found.shape == (5000,)
    assert found.flags.writeable
    np.testing.assert_allclose(found, solution(0.3, 0.4, 0.2), rtol=1e-13)


@pytest.mark.parametrize("kind", ["cube", "disk", "subspace"])
def test_grids_of_other_kinds(kind, solution_of):
    solution = solution_of(kind)
    axes = np.ix_(*[np.linspace(0.1, 0.6, 3 + k) for k in range(solution.problem.domain.dimension)])
    points = [c.ravel() for c in np.broadcast_arrays(*axes)]
    found = solution(*axes, 0.2)
    noise = 1e-8 if kind == "disk" else 1e-10  # a global network has round-off of its own
    np.testing.assert_allclose(found.ravel(), solution(*points, 0.2), rtol=0, atol=noise)


def test_periodic_grids_are_wrapped(solution_of):
    solution = solution_of("torus")
    x, y = np.linspace(0, 1, 6), np.linspace(0, 1, 4)
    np.testing.assert_allclose(solution(x[:, None] + 3, y - 2, 0.2), solution(x[:, None], y, 0.2), rtol=0, atol=1e-9)


# ---- memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["heat", "plate"])
def test_many_points_take_little_memory(kind, solution_of):
    """A few times the points and the values, and blocks of fixed size; basis values would take a hundred times that."""
    solution = solution_of(kind)
    lower, upper = solution.problem.domain.lower, solution.problem.domain.upper
    x = RNG.uniform(lower, upper, (200_000, len(lower)))
    for when in (0.3, RNG.uniform(*solution.problem.time, len(x))):
        tracemalloc.start()
        solution(*x.T, when)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 120e6 + 15 * x.nbytes


def test_places_with_times_of_their_own_share_the_coefficients_between_steps(solution_of, monkeypatch):
    solution, asked = solution_of("torus"), []
    piece = solution.pieces[0]
    original = type(piece).coefficients
    monkeypatch.setattr(
        type(piece), "coefficients", lambda self, t, *a, **k: asked.append(len(t)) or original(self, t, *a, **k)
    )
    x, t = places_in(solution, 4000), np.linspace(0.01, 0.49, 4000)
    many = solution(*x.T, t)
    assert sum(asked) < 2000
    monkeypatch.undo()
    few = np.array([solution(*x[k], t[k]) for k in range(0, 4000, 400)])
    assert np.max(np.abs(many[::400] - few)) < 1e-12


def test_all_fields_of_a_network_are_told_apart(solution_of, tables_used, monkeypatch):
    solution = solution_of("coupled")
    assert solution.pieces[0].expansions[0].fields == ("v", "u")
    x = places_in(solution)[:, 0]
    t = RNG.uniform(0, 1, len(x))
    few = np.arange(0, len(x), 500)
    for field in ("u", "v"):
        found = solution(x, t, field=field)
        expected = np.array([solution(x[k], t[k], field=field) for k in few])
        assert np.max(np.abs(found[few] - expected)) < 1e-9


@pytest.mark.parametrize("kind", ["torus", "string"])
def test_what_tables_lose_is_round_off_near_the_sides_too(kind, solution_of):
    """High modes are largest next to the sides, where few of the places lie."""
    solution = solution_of(kind)
    domain, count = solution.problem.domain, 40_000
    share = (1 - np.cos(np.pi * RNG.uniform(0, 1, (count, domain.dimension)))) / 2
    x = np.asarray(domain.lower) + share * (np.asarray(domain.upper) - np.asarray(domain.lower))
    t = RNG.uniform(*solution.problem.time, count)
    found, few = solution(*x.T, t), np.argsort(x[:, 0])[:400:4]
    expected = np.array([float(solution(*x[k], t[k])) for k in few])
    assert np.max(np.abs(found[few] - expected)) < 2e-13 * np.max(np.abs(found))


def history_of(solution, course, breaks):
    """Fixed coefficients times a course in time."""
    basis = solution.pieces[0].expansions[0].basis
    x, c = places_in(solution, 20_000), 1 / (1 + np.arange(basis.size)) ** 2
    when = RNG.uniform(0, 0.5, len(x))
    terms = [Term("u", Derivative((0, 0)))]
    return many_points.History(basis, terms, lambda t: (np.outer(c, course(t)), None), breaks, x, when)


COURSES = {
    "fast": lambda t: np.cos(300 * t),
    "jumps at breaks": lambda t: 1 + np.floor(64 * t) + t**2,
    "small jumps at breaks": lambda t: 1 + 1e-11 * np.floor(64 * t) + t**2,
    "kink": lambda t: np.abs(t - 0.123),
    "steady": np.ones_like,
}


@pytest.mark.parametrize("course", COURSES)
def test_courses_in_time(course, solution_of):
    own = history_of(solution_of("torus"), COURSES[course], np.linspace(0, 0.5, 33))
    found, few = own.from_tables(), np.arange(0, 20_000, 100)
    np.testing.assert_allclose(found[few], own.values(few), rtol=0, atol=2e-12 * np.max(np.abs(found)))


# ---- sums of products ------------------------------------------------------------------------------------


def waves(count):
    return lambda x: np.cos(np.pi * np.arange(count) * x[:, None])


def sums_of(sizes, moments, count, rank=None, spans=3):
    """Tensors of some spans, functions of the axes, places with times, and the sums multiplied out."""
    axes = tuple(many_points.AxisFunctions(None, (), tabulated(waves(r), np.linspace(0, 1, 4))) for r in sizes)
    core = RNG.normal(size=(spans, moments, *sizes))
    if rank is not None:
        core = np.einsum("ik,stk...->sti...", RNG.normal(size=(sizes[0], rank)), core[:, :, :rank])
    x, times = RNG.uniform(0, 1, (count, len(sizes))), RNG.uniform(-1, 1, count)
    span = np.sort(RNG.integers(0, spans, count))
    letters = "abc"[: len(sizes)]
    each = ",".join(f"n{letter}" for letter in letters)
    functions = [waves(r)(own) for r, own in zip(sizes, x.T, strict=True)]
    expected = np.zeros(count)
    for k in range(spans):
        own = span == k
        parts = [chebvander(times[own], moments - 1), *(f[own] for f in functions)]
        expected[own] = np.einsum(f"t{letters},nt,{each}->n", core[k], *parts, optimize=True)
    bounds = np.searchsorted(span, np.arange(spans + 1))
    return many_points.ProductSums(core[:, None], axes), (x, times, bounds), expected


@pytest.mark.parametrize("count", [20, 3000])
@pytest.mark.parametrize("sizes", [(30,), (12, 30), (9, 20, 6)])
def test_sums_are_those_multiplied_out(sizes, count):
    own, places, expected = sums_of(sizes, 5, count)
    size = np.max(np.abs(expected))
    for sums in (own, own.compressed(1e-13)):
        assert np.max(np.abs(sums.at(*places)[0] - expected)) < 1e-12 * size


def test_few_combinations_are_found():
    own, places, expected = sums_of((40, 10), 4, 2000, rank=3)
    found = own.compressed(1e-11)
    assert found.core.shape == (3, 1, 4, 3, 10)
    assert np.max(np.abs(found.at(*places)[0] - expected)) < 1e-11 * np.max(np.abs(expected))

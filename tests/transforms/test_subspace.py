"""Active subspaces: found where they are and nowhere else, and problems are restricted to them exactly."""

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import frozenpinn as fp
from frozenpinn.analysis.subspace import Subspace, chain_rule, find_directions, find_subspace
from frozenpinn.geometry.ball import Ball
from frozenpinn.transforms.subspace import NotReducibleError, project_domain, restrict, zonotope

pytestmark = pytest.mark.filterwarnings("ignore:the initial data contradict")
NEUMANN = {f"x{i}{s}": "u_n = 0" for i in (2, 3, 4) for s in "-+"}


def box(dimension, low=0.0, high=1.0, **options):
    return fp.Box([low] * dimension, [high] * dimension, **options)


def plane_wave(direction, domain, equation="u_t = lap(u)"):
    phase = " + ".join(f"({a!r})*{c}" for a, c in zip(map(float, direction), domain.coordinates, strict=True))
    exact = f"cos({phase})*exp(-{float(np.dot(direction, direction))!r}*t)"
    return fp.Problem(equation, domain, (0, 0.1), f"cos({phase})", f"u = {exact}", exact=exact)


# ---- subspaces and sections -----------------------------------------------------------------------


directions = st.integers(2, 6).flatmap(
    lambda d: st.integers(1, min(3, d - 1)).flatmap(
        lambda k: st.lists(st.lists(st.floats(-1, 1), min_size=d, max_size=d), min_size=k, max_size=k)
    )
)


@settings(max_examples=80)
@given(rows=directions, low=st.floats(-3, 3), size=st.floats(0.1, 5))
def test_rows_are_orthonormal_and_the_section_is_one(rows, low, size):
    rows = np.array(rows)
    singular = np.linalg.svd(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), compute_uv=False)
    if singular[-1] < 1e-2 or np.min(np.linalg.norm(rows, axis=1)) < 1e-3:
        return
    domain = box(rows.shape[1], low, low + size)
    subspace = Subspace.spanned_by(rows, domain)
    k = len(rows)
    np.testing.assert_allclose(subspace.rows @ subspace.rows.T, np.eye(k), atol=1e-13)
    np.testing.assert_allclose(subspace.rows @ subspace.section, np.eye(k), atol=1e-12)
    # what was given lies in the span, up to the fractions that are taken for simple ones
    held_out_residual = rows - rows @ subspace.rows.T @ subspace.rows
    assert np.max(np.abs(held_out_residual)) < 1e-6
    z = subspace.project(domain.sample(20, "random", 0).x)
    np.testing.assert_allclose(subspace.project(subspace.lift(z)), z, atol=1e-11)


@settings(max_examples=50)
@given(
    row=st.integers(2, 8).flatmap(lambda d: st.lists(st.floats(0.05, 1), min_size=d, max_size=d)),
    seed=st.integers(0, 99),
)
def test_a_line_through_a_box_goes_from_corner_to_corner(row, seed):
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(row))
    domain = fp.Box(-np.arange(1.0, len(row) + 1), np.arange(2.0, len(row) + 2))
    subspace = Subspace.spanned_by([row * signs], domain)
    interval = project_domain(domain, subspace)
    ends = subspace.lift(np.array([interval.lower, interval.upper]))
    assert np.all(np.isclose(ends, domain.lower) | np.isclose(ends, domain.upper))
    corners = np.array(list(product(*zip(domain.lower, domain.upper, strict=True))))
    z = subspace.project(corners)
    np.testing.assert_allclose([interval.lower[0], interval.upper[0]], [z.min(), z.max()], atol=1e-12)


def test_simple_numbers_are_taken_as_meant():
    subspace = Subspace.spanned_by([[1 + 1e-11, 1.0, 2 - 1e-11]], box(3))
    np.testing.assert_allclose(subspace.rows, np.array([[1.0, 1.0, 2.0]]) / np.sqrt(6), rtol=3e-16)
    assert subspace.axes is None


def test_coordinates_are_recognised_in_any_basis_of_their_span():
    subspace = Subspace.spanned_by([[0, 1, 0, 1], [0, 1, 0, -1]], box(4))
    assert subspace.axes == (1, 3)
    np.testing.assert_array_equal(subspace.rows, np.eye(4)[[1, 3]])


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([[1, 1, 1, 1, 1, 1]], "(x1 + … + x6)/√6"),
        ([[1, -1, 0, 0, 0, 0]], "(x1 − x2)/√2"),
        ([[3, 4, 0, 0, 0, 0]], "0.6·x1 + 0.8·x2"),
        ([[0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], "x1, x2"),
        ([[1, 1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0]], "(x1 + x2)/√2; (x3 − x4)/√2"),
        ([[1, 1, 1, -1, 1, 1]], "(x1 ± … + x6)/√6"),
    ],
)
def test_description(rows, text):
    domain = box(6)
    assert Subspace.spanned_by(rows, domain).describe(domain.coordinates) == text


@settings(max_examples=60)
@given(
    alpha=st.lists(st.integers(0, 3), min_size=2, max_size=4).filter(lambda a: 0 < sum(a) <= 5),
    k=st.integers(1, 2),
    seed=st.integers(0, 999),
)
def test_chain_rule_on_plane_waves(alpha, k, seed):
    rng = np.random.default_rng(seed)
    rows = np.linalg.qr(rng.normal(size=(len(alpha), min(k, len(alpha) - 1))))[0].T
    wave = rng.normal(size=len(rows))  # exp(wave·z) has ∂^beta = wave^beta, and ∂^alpha in x = (wave P)^alpha
    expected = np.prod((wave @ rows) ** np.array(alpha))
    found = sum(factor * np.prod(wave ** np.array(beta)) for beta, factor in chain_rule(alpha, rows).items())
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


# ---- zonotopes ------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(d=st.integers(3, 7), k=st.sampled_from([2, 3]), seed=st.integers(0, 9999), whole=st.booleans())
def test_zonotope_is_the_hull_of_all_corners(d, k, seed, whole):
    rng = np.random.default_rng(seed)
    generators = rng.integers(-2, 3, (d, k)).astype(float) if whole else rng.normal(size=(d, k))
    if np.linalg.matrix_rank(generators) < k:
        return
    corners = np.array(list(product((-1.0, 1.0), repeat=d))) @ generators
    vertices = zonotope(generators)
    expected, found = ConvexHull(corners), ConvexHull(vertices)
    assert found.volume == pytest.approx(expected.volume, rel=1e-9)
    inside = expected.equations[:, :-1] @ vertices.T + expected.equations[:, -1:]
    assert np.max(inside) < 1e-9 * np.abs(corners).max()


# ---- detection ------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    d=st.integers(2, 10), seed=st.integers(0, 9999), low=st.floats(-2, 0), size=st.floats(0.3, 3), ball=st.booleans()
)
def test_the_direction_of_a_plane_wave_is_found(d, seed, low, size, ball):
    direction = np.random.default_rng(seed).normal(size=d)
    domain = Ball([low] * d, size) if ball else box(d, low, low + size)
    found = find_subspace(plane_wave(direction, domain))
    assert found is not None
    assert found.size == 1
    direction /= np.linalg.norm(direction)
    np.testing.assert_allclose(found.rows[0] * np.sign(found.rows[0] @ direction), direction, atol=1e-9)


@pytest.mark.parametrize(
    ("equation", "initial", "boundary", "axes"),
    [
        ("u_t = lap(u)", "sin(x1)", "u_n = 0", (0,)),
        ("u_t = lap(u)", "exp(-50*(x2 - 1/2)^2)", "u_n = 0", (1,)),
        ("u_t = lap(u) + sin(x3*t)", "sin(x1)", "u_n = 0", (0, 2)),
        ("u_t = (1 + x2^2)*lap(u)", "sin(x1)", "u_n = 0", (0, 1)),
        ("u_t = (1 + t*x4)*lap(u)", "sin(x1)", "u_n = 0", (0, 3)),
        ("u_t = lap(u) - x4*u^3", "sin(x1)", "u_n = 0", (0, 3)),
        ("u_t = lap(u)", "sin(x1)", "u_n = sin(x2)*t", (0, 1)),
        ("u_t = lap(u)", "sin(x1)", "(2 + x3)*u_n = u", (0, 2)),
        ("u_t = lap(u)", "1", {"x1-": "u = 0", "x1+": "u = 1", **NEUMANN}, (0,)),
        ("u_t = lap(u) + u", "1", "u_n = 0", (0,)),
    ],
)  # fmt: skip
def test_coordinates_that_data_and_coefficients_need(equation, initial, boundary, axes):
    found = find_subspace(fp.Problem(equation, box(4), (0, 1), initial, boundary))
    assert found is not None
    assert found.axes == axes


@pytest.mark.parametrize(
    ("domain", "equation", "initial", "boundary"),
    [
        (box(2), "u_t = lap(u)", "sin(pi*x)*sin(pi*y)", "u = 0"),
        (box(3), "u_t = lap(u)", "sin(pi*x)", "u = 0"),  # the sides of y and z hold it
        (box(3), "u_t = lap(u) + 1", "0", "u = 0"),
        (box(5), "u_t = lap(u)", "x1*x2 + x3*x4", "u_n = 0"),  # four directions are too many
        (Ball([0.0] * 5, 1.0), "u_t = lap(u)", "x1^2 + x2^2 + x3^2 + x4^2 + x5^2", "u_n = 2"),
        (box(2), "u_t = lap(u)", "sin(x) + 1e-6*sin(y)", "u_n = 0"),
    ],
)
def test_no_subspace_where_there_is_none(domain, equation, initial, boundary):
    assert find_subspace(fp.Problem(equation, domain, (0, 1), initial, boundary)) is None


@pytest.mark.parametrize(
    "hidden",
    [
        "exp(-((y - 0.3)/0.01)^2)",  # thin in space
        "sin(y)*exp(-((t - 0.43)/0.01)^2)",  # short in time
        "sin(y)*(heaviside(t - 0.5) - heaviside(t - 0.52))",
    ],
)
def test_data_that_hide_from_a_few_points_are_seen_by_many(hidden):
    """Where only the comparison at many points and times sees a dependence, nothing may be reduced."""
    problem = fp.Problem(f"u_t = lap(u) + {hidden}", box(2), (0, 1), "sin(x)", "u_n = 0")
    assert find_subspace(problem) is None


def test_a_steep_skew_front_is_still_one_direction():
    text = "tanh((x + 2*y - 1)/0.02)"
    problem = fp.Problem("u_t = lap(u)", box(2), (0, 1), text, f"u = {text}")
    found = find_subspace(problem)
    assert found is not None
    np.testing.assert_allclose(found.rows, [[1 / np.sqrt(5), 2 / np.sqrt(5)]], atol=1e-12)


def test_a_front_that_no_gradient_sees_is_not_taken_for_a_constant():
    problem = fp.Problem("u_t = lap(u)", box(3), (0, 1), "tanh((x + y - 1)/0.002)", "u_n = 0")
    assert len(find_directions(problem)) == 0
    assert find_subspace(problem) is None


def test_python_functions_and_function_parameters():
    problem = fp.Problem(
        "u_t = k*lap(u)",
        box(3),
        (0, 1),
        lambda x, y, z: np.sin(x + y),
        fp.Dirichlet(lambda points, t: np.sin(points[:, 0] + points[:, 1]) * np.exp(-t)),
        parameters={"k": lambda x, y: 1 + 0.1 * (x + y)},
    )
    found = find_subspace(problem)
    assert found is not None
    np.testing.assert_allclose(found.rows, [[1 / np.sqrt(2), 1 / np.sqrt(2), 0]], atol=1e-12)


def test_one_function_for_initial_and_boundary_data_is_looked_at_in_time():
    def both(points, t):
        return np.sin(points[:, 0]) + t * np.sin(points[:, 1])

    problem = fp.Problem("u_t = lap(u)", box(3), (0, 1), both, fp.Dirichlet(both))
    assert find_subspace(problem).axes == (0, 1)


def test_functions_that_fail_beside_the_domain_are_left_alone():
    def picky(points):
        if len(points) > 100:
            raise ValueError("too many")
        return np.sin(points[:, 0])

    assert find_subspace(fp.Problem("u_t = lap(u)", box(3), (0, 1), picky, "u_n = 0")) is None


def test_axes_of_very_different_lengths():
    domain = fp.Box([0, 0, 0], [1, 1e4, 1e-3])
    problem = fp.Problem("u_t = lap(u)", domain, (0, 1), "sin(x) + sin(1e-4*y)", "u_n = 0")
    assert find_subspace(problem).axes == (0, 1)


def test_looking_for_nothing_is_cheap():
    problem = fp.Problem("u_t = lap(u)", box(3), (0, 1), "sin(pi*x)*sin(pi*y)*sin(pi*z)", "u = 0")
    find_subspace(problem)
    started = time.process_time()
    for _ in range(20):
        assert find_subspace(problem) is None
    assert (time.process_time() - started) / 20 < 0.01


@pytest.mark.parametrize("d", [60, 160])
def test_very_many_dimensions(d):
    """Gradients are sampled block by block; 160 dimensions need more than one."""
    names = box(d).coordinates
    sum_of_some = " + ".join(names[::40])
    problem = fp.Problem("u_t = lap(u)", box(d), (0, 1), f"sin({sum_of_some})", f"u = sin({sum_of_some})")
    found = find_subspace(problem)
    expected = np.zeros(d)
    expected[::40] = 1 / np.sqrt(len(names[::40]))
    np.testing.assert_allclose(found.rows, [expected], atol=1e-14)


def test_a_skew_direction_against_its_sides_is_not_tried():
    assert find_subspace(fp.Problem("u_t = lap(u)", box(2), (0, 1), "sin(x + y)", "u = 0")) is None


def test_no_directions_at_all():
    problem = fp.Problem("u_t = lap(u) + u", box(3), (0, 1), "1", "u_n = 0")
    assert find_directions(problem).shape == (0, 3)


# ---- restricted problems --------------------------------------------------------------------------


def test_derivatives_become_combinations():
    domain = box(2)
    problem = fp.Problem("u_t = u_xx + 2*u_yy + 3*u_xy + u*u_x", domain, (0, 1), "sin(3*x + 4*y)", "u = sin(3*x + 4*y)")
    reduced = restrict(problem, Subspace.spanned_by([[3, 4]], domain))
    second = next(c for jet, c in reduced.equations[0].linear.items() if jet.alpha == (2,))
    assert float(second) == pytest.approx(0.36 + 2 * 0.64 + 3 * 0.48)
    assert float(reduced.equations[0].nonlinear.args[0]) == pytest.approx(0.6)
    assert reduced.domain.upper[0] == pytest.approx(1.4)


def test_laplacians_stay_one_symbol_in_two_directions():
    problem = fp.Problem("u_t = lap(u) - lap(lap(u))", box(4), (0, 1), "sin(x1)*sin(x3)", ["u_n = 0", "u = 1"])
    reduced = restrict(problem, Subspace.spanned_by(np.eye(4)[[0, 2]], problem.domain))
    assert {(jet.alpha, jet.laps) for jet in reduced.equations[0].linear} == {((0, 0), 1), ((0, 0), 2)}


def test_sides_of_kept_axes_keep_their_conditions():
    boundary = {f"x{i}{s}": "u_n = 0" for i in (1, 2, 4) for s in "-+"} | {"x3-": "u = t", "x3+": "u_x3 + 2*u = 3"}
    problem = fp.Problem("u_t = lap(u)", box(4), (0, 1), "x3", boundary)
    reduced = restrict(problem, Subspace.spanned_by([[0, 0, 1, 0]], problem.domain))
    assert [(c.side.name, c.text) for c in reduced.conditions] == [("left", "u = t"), ("right", "2*u + u_x = 3")]


def test_periodic_axes_are_kept():
    problem = fp.Problem("u_t = lap(u)", box(3, periodic=[True, False, True]), (0, 1), "sin(2*pi*z)", "u_n = 0")
    assert restrict(problem, Subspace.spanned_by([[0, 0, 1]], problem.domain)).domain.periodic == (True,)
    assert restrict(problem, Subspace.spanned_by([[0, 1, 0]], problem.domain)).domain.periodic == (False,)


@pytest.mark.parametrize(
    ("rows", "kind", "measure"),
    [
        ([[1.0, 0, 0, 0]], "Interval", 2.0),
        ([[1.0, 1, 1, 1]], "Interval", 4.0),
        (np.eye(4)[:2], "Box", 4.0),
        ([[1.0, 1, 0, 0], [0, 0, 1, -1]], "Box", 8.0),
        ([[1.0, 0, 1, 0], [0, 1, 1, 0]], "ConvexPolytope", 4 * np.sqrt(3)),
        ([[1.0, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]], "ConvexPolytope", 16.0),
    ],
)
def test_images_of_a_cube(rows, kind, measure):
    """The measure of a zonotope is the sum over all k generators of the volumes they span, times 2^k."""
    image = project_domain(box(4, -1, 1), Subspace.spanned_by(rows, box(4, -1, 1)))
    assert type(image).__name__ == kind
    assert image.measure == pytest.approx(measure)


@pytest.mark.parametrize(("rows", "kind"), [([[1.0, 2, 2]], "Interval"), ([[1.0, 0, 0], [0, 1, 1]], "Ball")])
def test_images_of_a_ball(rows, kind):
    ball = Ball([1.0, 2.0, 3.0], 0.5)
    subspace = Subspace.spanned_by(rows, ball)
    image = project_domain(ball, subspace)
    assert type(image).__name__ == kind
    np.testing.assert_allclose((image.lower + image.upper) / 2, subspace.rows @ ball.center)
    np.testing.assert_allclose(image.upper - image.lower, 1.0)


def test_a_normal_derivative_on_a_ball_stays_one():
    problem = fp.Problem("u_t = lap(u)", Ball([0.0] * 4, 2.0), (0, 1), "x1*x2", fp.Neumann("x1*x2"))
    reduced = restrict(problem, Subspace.spanned_by(np.eye(4)[:2], problem.domain))
    points = reduced.domain.sample_side(reduced.domain.sides[0], 9, "random", 0)
    table = {jet.alpha: c for jet, c in reduced.conditions[0].terms_at(points)}
    np.testing.assert_allclose(table[1, 0], points.normals[:, 0])
    np.testing.assert_allclose(table[0, 1], points.normals[:, 1])


def reasons():
    skew = [[1.0, 1.0, 0.0]]
    yield "u_n = 0", {}, skew, "only Dirichlet conditions are possible"
    yield "u = 0", {"periodic": [True, False, False]}, skew, "mixes a periodic axis with others"
    sides = dict.fromkeys(["left", "right", "front", "back"], "u = 0")
    free = {**sides, "bottom": fp.Free(), "top": fp.Free()}
    yield free, {}, skew, "conditions for different fields"
    other = {**sides, "bottom": "u = 1", "top": "u = 0"}
    yield other, {}, [[1.0, 1, 0], [0, 1, 1]], "all sides must have the same conditions"


@pytest.mark.parametrize(("boundary", "options", "rows", "reason"), list(reasons()))
def test_what_can_not_be_restricted_says_why(boundary, options, rows, reason):
    problem = fp.Problem("u_t = lap(u)", box(3, **options), (0, 1), "0", boundary)
    with pytest.raises(NotReducibleError, match=reason):
        restrict(problem, Subspace.spanned_by(rows, problem.domain))


def test_names_that_clash_are_refused():
    problem = fp.Problem("x_t = lap(x)", box(4), (0, 1), "x1", "x_n = 0")
    with pytest.raises(NotReducibleError, match="coordinate"):
        restrict(problem, Subspace.spanned_by([[1, 0, 0, 0]], problem.domain))


def test_restricted_python_functions_see_points_of_the_domain():
    seen = []

    def initial(points):
        seen.append(points)
        return points @ np.array([3.0, -4.0, 0.0])

    domain = fp.Box([1, 2, 0], [2, 4, 1])
    problem = fp.Problem("u_t = lap(u)", domain, (0, 1), initial, fp.Dirichlet(lambda points, t: initial(points)))
    reduced = restrict(problem, Subspace.spanned_by([[3, -4, 0]], domain))
    seen.clear()
    z = reduced.domain.sample(50, "uniform").x
    np.testing.assert_allclose(reduced.initial["u"](z, 0.0), 5 * z[:, 0], atol=1e-12)
    assert np.all(domain.contains(np.concatenate(seen)))
    assert [c.value.depends_on_time for c in reduced.conditions] == [True, True]


# ---- solving with a tolerance ---------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_side_that_matters_little_is_seen_by_a_finer_solve(dimension):
    """What the first solve may neglect, the next may not: it goes to more coordinates, with widths of its own."""
    domain = box(dimension)
    sides = {side.name: "u_n = 0" for side in domain.sides} | {"top": "u_n = 0.002*t"}
    problem = fp.Problem("u_t = 0.01*lap(u)", domain, (0, 1), "1 + cos(pi*x)/2", sides)
    solution = fp.solve(problem, tol=1e-4)
    assert [width for width, *_ in solution.verdict.attempts][:2] == [40, 16]
    assert solution.witness.subspace.size == 1
    assert (2 if solution.subspace is None else solution.subspace.size) == 2
    total = 0.01 * 0.002 / 2  # what has flown in at the end
    x = domain.sample(500, "random", 0).x

    def missed(found):
        return total - np.mean(found(*x.T, 1.0) - 1 - np.exp(-0.01 * np.pi**2) * np.cos(np.pi * x[:, 0]) / 2)

    assert missed(solution.witness) == pytest.approx(total)
    assert abs(missed(solution)) < solution.error_estimate["u"] < 1e-4


@pytest.mark.parametrize("where", ["initial", "equation"])
@pytest.mark.parametrize("width", [1e-3, 1e-5])
def test_what_is_narrow_is_not_overlooked(where, width):
    """Random points never see a peak this narrow; its formula tells where it is."""
    peak = f"exp(-((x - 0.37)**2 + (y - 0.61)**2)/{2 * width**2})"
    source, start = (f" + {peak}", "sin(2*pi*x)") if where == "equation" else ("", f"sin(2*pi*x) + {peak}")
    problem = fp.Problem(f"u_t = 0.01*lap(u){source}", box(2, periodic=True), (0, 1), start)
    assert find_subspace(problem) is None


def test_a_narrow_ridge_is_a_direction_by_itself():
    problem = fp.Problem("u_t = 0.01*lap(u)", box(2, periodic=True), (0, 1), "exp(-(x - 0.4)**2/2e-6)")
    assert find_subspace(problem).axes == (0,)

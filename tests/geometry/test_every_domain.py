"""What holds for every kind of domain: measures, inside tests, normals, the divergence theorem, uniform points."""

import pickle

import numpy as np
import pytest
from domain_shapes import SHAPES, shape

from frozenpinn import Problem, ProblemError, SettingsError
from frozenpinn.geometry import Ball, Box, Disk, Domain, Implicit, Interval, PointCloud, Points

ALL = list(SHAPES)
SCATTERED = ["random", "latin-hypercube", "sobol"]


@pytest.fixture(params=ALL)
def name(request):
    return request.param


def test_measure(name):
    _, measure, _, accuracy = SHAPES[name]
    domain = shape(name)
    assert domain.measure == pytest.approx(measure, rel=accuracy)
    points = domain.sample(600)
    assert points.weights.sum() == pytest.approx(domain.measure, rel=1e-12)
    assert np.all(points.weights > 0)
    assert np.all(points.spacing > 0)
    assert points.x.shape == (len(points), domain.dimension) == (len(points.weights), domain.dimension)


def test_measure_of_the_boundary(name):
    _, _, surface, accuracy = SHAPES[name]
    domain = shape(name)
    found = sum(domain.sample_side(side, 600).weights.sum() for side in domain.sides)
    assert found == pytest.approx(surface, rel=accuracy)


def test_points_lie_inside_the_bounding_box_and_the_domain(name):
    domain = shape(name)
    for method in ["gauss", *SCATTERED]:
        x = domain.sample(300, method, rng=1).x
        assert np.all((x >= domain.lower - 1e-12) & (x <= domain.upper + 1e-12))
        assert np.all(domain.contains(x))
        assert np.mean(domain.contains(x, -1e-9)) > 0.98
    far = domain.upper + domain.lengths
    assert not domain.contains(far[None])[0]


def test_the_number_of_points(name):
    domain = shape(name)
    for n in (1, 37, 300):
        for method in SCATTERED:
            assert len(domain.sample(n, method, rng=0)) == n
    many = len(domain.sample(4000))
    assert 2000 < many < 8000


def test_normals_point_out(name):
    """A small step along the normal leaves the domain, one against it enters."""
    domain = shape(name)
    step = 1e-6 * domain.size
    for side in domain.sides:
        for method in ["gauss", "random"]:
            points = domain.sample_side(side, 200, method, rng=2)
            assert points.side == side
            assert points.x.shape == points.normals.shape
            assert np.all(points.weights > 0)
            np.testing.assert_allclose(np.linalg.norm(points.normals, axis=1), 1.0, rtol=1e-12)
            assert np.all(domain.contains(points.x))
            if name == "cloud":  # normals of corners are between those of two edges
                step = 1e-3
            assert not np.any(domain.contains(points.x + step * points.normals, 0.0))
            assert np.all(domain.contains(points.x - step * points.normals, 0.0))


@pytest.mark.parametrize("field", ["cubic", "wave"])
def test_the_divergence_theorem(name, field):
    """∫ div F = ∮ F·n: the rules inside and on the sides and the normals fit together."""
    domain = shape(name)
    accuracy = {"step": 1e-5, "parted": 1e-3}.get(name, 5 * SHAPES[name][3])  # sides that are cut lose whole points
    n = 2500 if domain.dimension <= 2 else 6000
    inside = domain.sample(n)

    def flux(x):
        s = (x - domain.lower) / domain.size
        return s**3 + s[:, ::-1] if field == "cubic" else np.sin(2 * s + s[:, ::-1])

    def divergence(x):
        s = (x - domain.lower) / domain.size
        inner = np.sum(3 * s**2 if field == "cubic" else 2 * np.cos(2 * s + s[:, ::-1]), axis=1)
        middle = domain.dimension // 2  # the coordinate that stays where it is when all are reversed
        if domain.dimension % 2:
            inner = inner + (1.0 if field == "cubic" else np.cos(3 * s[:, middle]))
        return inner / domain.size

    volume = inside.weights @ divergence(inside.x)
    surface, scale = 0.0, 0.0
    for side in domain.sides:
        points = domain.sample_side(side, n // 2)
        flow = points.weights * np.sum(points.normals * flux(points.x), axis=1)
        surface, scale = surface + flow.sum(), scale + np.abs(flow).sum()
    assert abs(volume - surface) < max(accuracy, 1e-11) * scale


@pytest.mark.parametrize("method", SCATTERED)
def test_scattered_points_are_uniform(name, method):
    """Their means are those of the quadrature rule, within five standard errors."""
    domain = shape(name)
    n = 4000
    exact, x = domain.sample(n), domain.sample(n, method, rng=3).x
    for power in (1, 2):
        mean = exact.weights @ exact.x**power / domain.measure
        spread = np.std(x**power, axis=0)
        if domain.dimension <= 3:
            assert np.all(np.abs(np.mean(x**power, axis=0) - mean) < 5 * spread / n**0.5 + 1e-4)


@pytest.mark.parametrize("method", SCATTERED)
def test_scattered_points_on_sides_are_uniform(name, method):
    if name == "cloud":
        pytest.skip("has its own points on the boundary")
    domain = shape(name)
    n = 3000
    for side in domain.sides:
        exact, found = domain.sample_side(side, n), domain.sample_side(side, n, method, rng=4)
        total = exact.weights.sum()
        assert found.weights.sum() == pytest.approx(total, rel=0.01)
        equal = 0.1 if name == "parted" else 1e-9  # each of several old sides has its own weight
        assert np.ptp(found.weights) < equal * total / n
        assert abs(len(found) - n) < 0.15 * n
        for power in (1, 2):
            mean = exact.weights @ exact.x**power / total
            spread = np.std(found.x**power, axis=0)
            if domain.dimension <= 3:
                gap = np.abs(np.mean(found.x**power, axis=0) - mean)
                assert np.all(gap < 5 * spread / n**0.5 + 2e-3 * domain.size**power)


def test_seeds(name):
    domain = shape(name)
    for method in SCATTERED:
        first, again, other = (domain.sample(50, method, rng=seed).x for seed in (5, 5, 6))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
    side = domain.sides[0]
    np.testing.assert_array_equal(domain.sample_side(side, 40).x, domain.sample_side(side, 40, rng=9).x)


def test_domains_do_not_change(name):
    domain = shape(name)
    with pytest.raises(AttributeError, match=r"domains don't change; build a new one instead of setting 'lower'\."):
        domain.lower = domain.lower + 1
    with pytest.raises(ValueError, match="read-only"):
        domain.lower[0] = 7.0


def test_wrong_requests(name):
    domain = shape(name)
    with pytest.raises(SettingsError, match="a positive whole number of points is needed, got 0"):
        domain.sample(0)
    with pytest.raises(SettingsError, match="unknown sampling method 'gaus'; choose one of 'gauss', 'latin-hypercube'"):
        domain.sample(10, "gaus")
    with pytest.raises(ProblemError, match="unknown side 'nowhere'; the sides are "):
        domain.side("nowhere")
    if name not in ("parted", "named"):
        with pytest.raises(SettingsError, match="'uniform' places a tensor grid, which only boxes have"):
            domain.sample(10, "uniform")
        with pytest.raises(SettingsError, match="'uniform' places a tensor grid, which only boxes have"):
            domain.sample_side(domain.sides[0], 10, "uniform")


def test_sides_are_found_by_name_and_alias(name):
    domain = shape(name)
    names = [side.name for side in domain.sides]
    assert len(set(names)) == len(names) > 0
    for side in domain.sides:
        for word in (side.name, *side.aliases):
            assert domain.side(word) == side
        assert domain.sample_side(side.name, 30).side == side


def test_points_are_plain(name):
    domain = shape(name)
    assert isinstance(domain, Domain)
    points = domain.sample(40)
    assert isinstance(points, Points)
    assert points.dimension == domain.dimension
    again = pickle.loads(pickle.dumps(points))
    np.testing.assert_array_equal(again.x, points.x)
    assert domain.wrap(points.x) is points.x
    assert len(repr(domain)) < 200


MORE = {
    "interval": lambda: Interval(0, 2),
    "ring": lambda: Interval(0, 2, periodic=True),
    "tube": lambda: Box([0, 0, 0], [1, 2, 3], periodic=[True, False, False]),
    "union": lambda: Box([0, 0], [2, 1]) | Disk([2, 0.5], 0.5),
    "intersection": lambda: Ball([0, 0, 0], 1) & Box([0, 0, 0], [2, 2, 2]),
    "nested": lambda: (Box([0, 0], [2, 1]) - Disk([1, 0.5], 0.2).named("hole")).with_sides(inlet="x < 0.1 and y > 0.2"),
    "renamed box": lambda: Box([0, 0], [1, 1]).named("wall"),
    "function": lambda: Implicit(beyond_the_circle, [-1.2, -1.2], [1.2, 1.2]).with_sides(hot=above),
    "cloud in 4-d": lambda: PointCloud(*(np.random.default_rng(i).normal(size=(60, 4)) for i in (0, 1))),
}


def beyond_the_circle(x, y):
    return x**2 + y**2 - 1


def above(x, y):
    return y > 0


def everything(domain):
    """Return points of all kinds with their weights and normals, and what is inside."""
    places = np.random.default_rng(7).uniform(domain.lower, domain.upper, (200, domain.dimension))
    found = [np.array([domain.measure]), domain.contains(places), domain.contains(places, 1e-3)]
    for method in ("gauss", "random"):
        points = domain.sample(50, method, rng=3)
        found += [points.x, points.weights, points.spacing]
        for side in domain.sides:
            edge = domain.sample_side(side, 20, method, rng=4)
            found += [edge.x, edge.normals, edge.weights]
    return [array.tobytes() for array in found]


@pytest.mark.parametrize("build", [*(SHAPES[name][0] for name in SHAPES), *MORE.values()], ids=[*SHAPES, *MORE])
def test_pickled_domains_and_problems_on_them_are_the_same(build):
    domain = build()
    fresh = pickle.loads(pickle.dumps(domain))
    expected = everything(domain)
    for other in (fresh, pickle.loads(pickle.dumps(domain))):  # before and after anything was found out about it
        assert repr(other) == repr(domain)
        assert other.sides == domain.sides
        assert everything(other) == expected
        assert not other.lower.flags.writeable
        with pytest.raises(AttributeError, match="domains don't change"):
            other.dimension = 7
    name = domain.coordinates[0]
    problem = Problem("u_t = lap(u)", domain, (0, 1), "1", f"u + {name}*u_n = 1" if domain.sides else None)
    other = pickle.loads(pickle.dumps(problem))
    assert other.equations == problem.equations
    x = domain.sample(9, "random", rng=0).x
    for one, two in zip(problem.conditions, other.conditions, strict=True):
        points = domain.sample_side(one.side, 9, "random", rng=0)
        assert one.value(points.x, 0.5).tobytes() == two.value(points.x, 0.5).tobytes()
        for a, b in zip(one.coefficients_at(points), two.coefficients_at(points), strict=True):
            assert a.tobytes() == b.tobytes()
    assert problem.initial["u"](x).tobytes() == other.initial["u"](x).tobytes()

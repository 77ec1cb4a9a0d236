"""Unknown functions in evolutions: coefficients, sources, initial values, boundary data; and what else is measured."""

import numpy as np
import pytest
from scipy.special import jv

import frozenpinn as fp

LINE = fp.Interval(0, 1)
GRID = np.linspace(0, 1, 101)
RNG = np.random.default_rng(5)
PLACES, TIMES = RNG.uniform(0, 1, 100), RNG.uniform(0.05, 1, 100)


def measured(exact, noise, **options):
    return fp.Measurements(
        PLACES, exact(PLACES, TIMES) + noise * RNG.standard_normal(100), times=TIMES, noise=noise, **options
    )


def judged(field, truth, at=GRID):
    """Return the relative error, and where the band contains the truth."""
    low, high = field.band(at)
    error = np.linalg.norm(field(at) - truth) / np.linalg.norm(truth)
    return error, np.mean((low <= truth) & (truth <= high))


def decaying(modes, k=1.0):
    return lambda x, t: sum(a * np.exp(-k * (n * np.pi) ** 2 * t) * np.sin(n * np.pi * x) for n, a in modes)


@pytest.fixture(scope="module")
def backward():
    exact = decaying([(1, 1.0), (2, 0.5), (3, -0.4)], 0.1)
    problem = fp.Problem("u_t = 0.1*u_xx", LINE, (0, 0.1), fp.UnknownField(), "u = 0")
    x = np.linspace(0.02, 0.98, 40)
    noisy = exact(x, 0.1) + 0.01 * RNG.standard_normal(40)
    return fp.infer(problem, fp.Measurements(x, noisy, times=0.1, noise=0.01)), exact


def test_an_initial_value_is_found(backward):
    found, exact = backward
    error, inside = judged(found.field("initial"), exact(GRID, 0.0))
    assert error < 0.15
    assert inside > 0.9
    assert found.solution(0.3, 0.1) == pytest.approx(exact(0.3, 0.1), abs=0.02)


def test_new_data_for_it_need_no_new_slopes(backward):
    found, exact = backward
    x = np.linspace(0.02, 0.98, 40)
    again = found.again(fp.Measurements(x, 2 * exact(x, 0.1) + 0.01 * RNG.standard_normal(40), times=0.1, noise=0.01))
    error, inside = judged(again.field("initial"), 2 * exact(GRID, 0.0))
    assert error < 0.15
    assert inside > 0.9


def test_a_source_is_found_exactly_from_exact_data():
    def source(x):
        return 1 + np.cos(np.pi * x) - 0.5 * np.cos(3 * np.pi * x)

    def exact(x, t):
        waves = ((1, 1.0), (3, -0.5))
        rates = [(0.1 * (n * np.pi) ** 2, n, a) for n, a in waves]
        return t + sum(a * np.cos(n * np.pi * x) * (1 - np.exp(-r * t)) / r for r, n, a in rates)

    problem = fp.Problem("u_t = 0.1*u_xx + s", LINE, (0, 1), 0, "u_n = 0", parameters={"s": fp.UnknownField()})
    found = fp.infer(problem, fp.Measurements(PLACES, exact(PLACES, TIMES), times=TIMES))
    assert judged(found.field("s"), source(GRID))[0] < 2e-3


def test_a_conductivity_is_found():
    """u = exp(-t) sin πx solves u_t = (k u_x)_x + f with k = 0.2 + 0.1 sin πx."""
    force = "-exp(-t)*sin(pi*x) + exp(-t)*pi**2*(0.2*sin(pi*x) + 0.1*sin(pi*x)**2 - 0.1*cos(pi*x)**2)"
    given = {"k": fp.UnknownField(0.3, positive=True), "f": force}
    problem = fp.Problem("u_t = div(k*grad(u)) + f", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters=given)
    found = fp.infer(problem, measured(lambda x, t: np.exp(-t) * np.sin(np.pi * x), 3e-3))
    error, inside = judged(found.field("k"), 0.2 + 0.1 * np.sin(np.pi * GRID))
    assert error < 0.06
    assert inside > 0.9


def test_data_on_the_boundary_may_be_unknown_functions_of_time():
    """u = (1 - x) q(t) + …: the flux that enters on the left is read off temperatures inside."""
    problem = fp.Problem(
        "u_t = u_xx + f",
        LINE,
        (0, 1),
        0,
        {"left": "u_n = q", "right": "u = 0"},
        parameters={"q": fp.UnknownField(of="t"), "f": "(1 - x)*cos(3*t)*3"},
    )  # u = (1 - x) sin 3t, so u_n = sin 3t on the left
    times = np.linspace(0.02, 1, 60)
    values = 0.8 * np.sin(3 * times) + 0.003 * RNG.standard_normal(60)
    found = fp.infer(problem, fp.Measurements(np.full(60, 0.2), values, times=times, noise=0.003))
    error, inside = judged(found.field("q"), np.sin(3 * GRID))
    assert error < 0.05
    assert inside > 0.9
    with pytest.raises(fp.EvaluationError, match=r"'q' takes 1 coordinate\(s\), t; got 2"):
        found.field("q")(0.1, 0.2)


def test_an_initial_velocity_with_damping():
    rate = np.sqrt(np.pi**2 - 0.0625)
    problem = fp.Problem("u_tt = u_xx - 0.5*u_t", LINE, (0, 1), 0, "u = 0", initial_velocity=fp.UnknownField())
    found = fp.infer(
        problem, measured(lambda x, t: np.exp(-t / 4) * np.sin(rate * t) / rate * np.sin(np.pi * x), 0.003)
    )
    error, inside = judged(found.field("initial_velocity"), np.sin(np.pi * GRID))
    assert error < 0.05
    assert inside > 0.7


# ---- what is measured -----------------------------------------------------------------------------------


def heat(**unknowns):
    return fp.Problem("u_t = k*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2), **unknowns})


def value(x, t):
    return np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x)


TEN = np.linspace(0.1, 1.0, 10)


@pytest.mark.parametrize(
    "data",
    [
        fp.Measurements.averages(
            fp.Interval(0.2, 0.6), value(0.5, TEN) * (np.cos(0.2 * np.pi) - np.cos(0.6 * np.pi)) / np.pi / 0.4, TEN
        ),
        fp.Measurements.averages("right", 0.1 * np.pi * value(0.5, TEN), TEN, quantity="-k*u_n", integral=True),
        fp.Measurements(np.zeros(10), -0.1 * np.pi * value(0.5, TEN), TEN, quantity="k*u_n", side="left"),
        fp.Measurements(np.full(10, 0.3), value(0.3, TEN) ** 2, TEN, quantity="u**2"),
        fp.Measurements(np.full(10, 1.0), -np.pi * value(0.5, TEN), TEN, derivative="x"),
    ],
    ids=["average", "flux through a side", "flux at points", "square", "slope"],
)
def test_averages_fluxes_and_other_quantities(data):
    assert float(fp.infer(heat(), data).parameters["k"]) == pytest.approx(0.1, rel=1e-6)


def test_averages_of_static_problems():
    problem = fp.Problem("k*u_xx = -1", LINE, boundary="u = 0", parameters={"k": fp.Unknown(1.0)})
    regions = [fp.Interval(0, 1), fp.Interval(0, 0.5)]
    found = fp.infer(problem, fp.Measurements.averages(regions, [1 / 24, 1 / 24]))
    assert float(found.parameters["k"]) == pytest.approx(2.0, rel=1e-8)
    flux = fp.Measurements.averages(["left", "right"], [-1.0, -1.0], quantity="2*k*u_n")
    both = [flux, fp.Measurements([0.5], [1 / 16])]
    assert float(fp.infer(problem, both).parameters["k"]) == pytest.approx(2.0, rel=1e-8)


def test_xarray():
    import xarray

    x, t = np.linspace(0.1, 0.9, 5), np.linspace(0.2, 1, 4)
    grid = value(x[:, None], t[None])
    grid[2, 1] = np.nan
    data = fp.Measurements.from_xarray(xarray.DataArray(grid, coords={"x": x, "t": t}, dims=("x", "t"), name="u"))
    assert len(data) == 19
    assert float(fp.infer(heat(), data).parameters["k"]) == pytest.approx(0.1, rel=1e-6)
    with pytest.raises(fp.ProblemError, match="takes a DataArray or a Dataset, got int"):
        fp.Measurements.from_xarray(3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fp.Measurements([0.5], [1], 1.0, quantity="u", field="u"), "stands instead of field= and derivative="),
        (lambda: fp.Measurements([0.5], [1], 1.0, quantity="u_t"), "has a time derivative"),
        (lambda: fp.Measurements([0.5], [1], 1.0, derivative="n"), "normal derivatives are measured on a side"),
        (
            lambda: fp.Measurements([0.5], [1], 1.0, derivative="n", side="left"),
            r"the point \(0.5\) does not lie on it",
        ),
        (lambda: fp.Measurements.averages(fp.Interval(0.5, 2), [1], 1.0), "regions reach outside the domain"),
        (lambda: fp.Measurements.averages([fp.Interval(0, 1)] * 3, [1, 2], 1.0), "2 values need 2 regions or one"),
        (lambda: fp.Measurements.averages(7, [1], 1.0), "regions are domains such as .* or names of sides; got int"),
        (lambda: fp.Measurements.averages("top", [1], 1.0), "'top'"),
    ],
)
def test_what_can_not_be_measured(make, text):
    with pytest.raises(fp.FrozenPinnError, match=text):
        fp.infer(heat(), make())


# ---- what else is told ------------------------------------------------------------------------------------


def test_a_field_that_jumps_is_told_and_its_band_is_wide():
    """u = x below 1/2 and 1 - x above of u_xx = s would need a delta function; a source that jumps is enough."""
    problem = fp.Problem("u_xx = -s", LINE, boundary="u = 0", parameters={"s": fp.UnknownField()})
    x = np.linspace(0.02, 0.98, 80)
    jumping = np.where(x < 0.5, 3 / 8 * x - x**2 / 2, (1 - x) / 8)  # of s = 1 below 1/2, 0 above
    found = fp.infer(problem, fp.Measurements(x, jumping + 1e-4 * RNG.standard_normal(80), noise=1e-4))
    assert "if it jumps there" in found.report
    inside = judged(found.field("s"), np.where(GRID < 0.5, 1.0, 0.0))[1]
    assert inside > 0.85


def test_a_start_that_is_wrong_by_orders_of_magnitude():
    problem = fp.Problem("u_t = k*u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(100.0)})
    data = fp.Measurements(np.full(10, 0.5), value(0.5, TEN) + 1e-3 * RNG.standard_normal(10), TEN, noise=1e-3)
    found = fp.infer(problem, data)
    assert float(found.parameters["k"]) == pytest.approx(0.1, rel=0.02)


def test_nonlinear_conditions_and_jumps_are_known_with_numbers_only():
    cooled = fp.Problem(
        "u_t = k*u_xx",
        LINE,
        (0, 1),
        "1 + 0*x",
        {"left": "u_n = 0", "right": "u_n = -s*(u**4 - 1)"},
        parameters={"s": fp.Unknown(0.2), "k": fp.UnknownField(1.0)},
    )
    with pytest.raises(fp.SettingsError, match=r"infer\(\) knows nonlinear boundary conditions in evolutions with unk"):
        fp.infer(cooled, fp.Measurements([0.5], [1.0], times=0.5))


def test_nonlocal_terms_have_slopes_by_differences():
    problem = fp.Problem("u_t = 0.1*u_xx - k*mean(u)", LINE, (0, 1), "1", "u_n = 0", parameters={"k": fp.Unknown(0.5)})
    found = fp.infer(problem, fp.Measurements(np.full(10, 0.3), np.exp(-TEN), times=TEN))
    assert float(found.parameters["k"]) == pytest.approx(1.0, rel=1e-6)


def polar(**parameters):
    """A mode of the disk, stated in polar coordinates."""
    domain = fp.Box([0, 0], [1, 2 * np.pi], periodic=[False, True])
    start = lambda r, theta: jv(1, 3.8317059702075125 * r) * np.cos(theta)  # noqa: E731
    return fp.Problem("u_t = k*lap(u)", domain, (0, 0.1), start, "u = 0", coordinates="polar", parameters=parameters)


def test_places_are_told_in_the_coordinates_of_the_statement():
    r, theta = np.array([0.3, 0.5, 0.7]), np.array([0.2, 1.0, 5.0])
    values = np.exp(-0.7 * 3.8317059702075125**2 * 0.05) * jv(1, 3.8317059702075125 * r) * np.cos(theta)
    data = fp.Measurements(np.stack([r, theta], axis=1), values, times=0.05)
    found = fp.infer(polar(k=fp.Unknown(0.5)), data)
    assert found.parameters["k"].value == pytest.approx(0.7, rel=1e-4)
    with pytest.raises(fp.ProblemError, match=r"1 of 1 measurements lie outside the domain Box.*\(1.5, 0\)"):
        fp.infer(polar(k=fp.Unknown(0.5)), fp.Measurements([[1.5, 0]], [0.0], times=0.05, noise=1e-3))
    with pytest.raises(fp.ProblemError, match="in polar coordinates only values of fields can be measured"):
        fp.infer(polar(k=fp.Unknown(0.5)), fp.Measurements([[0.5, 0]], [0.0], times=0.05, derivative="r", noise=1e-3))
    with pytest.raises(fp.SettingsError, match="functions of t in polar coordinates, but 'k' depends on the place"):
        fp.infer(polar(k=fp.UnknownField(0.5)), data)


@pytest.mark.parametrize("equation", ["u_t - k*u_xxt + u_x = 0", "u_t - u_xxt + k*u_x = 0"])
def test_unknowns_of_implicit_equations(equation):
    line = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem(equation, line, (0, 1), "sin(x)", parameters={"k": fp.Unknown(0.8)})
    x = np.linspace(0.5, 6, 7)  # of one wave the speed is 1/(1 + k) or k/2
    data = fp.Measurements(x, np.sin(x - 1 / 1.5) if "k*u_xxt" in equation else np.sin(x - 0.25), times=1.0)
    assert fp.infer(problem, data).parameters["k"].value == pytest.approx(0.5, abs=1e-6)

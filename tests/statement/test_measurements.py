"""Measurements and unknowns: what is read, and what is refused with which words."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp

STATIC = fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(2.0, 1, 3)})


def test_arrays_are_copied_and_frozen():
    values = np.ones(3)
    data = fp.Measurements([0.1, 0.2, 0.3], values, times=0.5, noise=[0.1, 0.1, 0.2])
    values[0] = 7.0
    assert data.values[0] == 1.0
    assert data.points.shape == (3, 1)
    assert data.times.tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        data.values[0] = 2.0
    assert np.array_equal(pickle.loads(pickle.dumps(data)).noise, data.noise)


def test_files_are_read(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("# sensors\nx, t, u_x, noise\n0.1, 0.5, 1.0, 0.01\n0.2, 0.5, 2.0, 0.02\n")
    data = fp.Measurements.read(file)
    assert (data.field, data.derivative) == ("u", "x")
    assert data.points[:, 0].tolist() == [0.1, 0.2]
    assert data.times.tolist() == [0.5, 0.5]
    assert data.noise.tolist() == [0.01, 0.02]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,u\n", "holds no values"),
        ("x,u\n0.1,abc\n", "line 2 of .* holds something that is no number"),
        ("x,u\n0.1,1,2\n", "line 2 of .* has 3 entries; the header has 2"),
        ("x,u,v\n0.1,1,2\n", "several columns of values; say field= one of 'u', 'v'"),
        ("a,b\n0.1,1\n", "needs a header with coordinates and a field"),
    ],
)
def test_files_that_can_not_be_read(tmp_path, text, message):
    file = tmp_path / "data.csv"
    file.write_text(text)
    with pytest.raises(fp.ProblemError, match=message):
        fp.Measurements.read(file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 0.2], [1.0]), r"1 values need points of shape \(1, d\)"),
        (([0.1, 0.2], [1.0, np.nan]), "values must be finite; 1 of them are not, the first at index 1"),
        (([0.1, np.inf], [1.0, 1.0]), r"points must be finite"),
        ((["a"], [1.0]), r"points must be numbers, got \['a'\]"),
        (([], []), "values is empty"),
        (([0.1], [1.0], [0.1, 0.2]), "1 values need 1 times or one for all"),
        (([0.1], [1.0], None, None, "", -1.0), "noise is a standard deviation and must be positive"),
        (([0.1], [1.0], None, None, "", [1.0, 1.0]), "1 values need one noise or 1 of them"),
    ],
)
def test_refused_measurements(arguments, message):
    with pytest.raises(fp.ProblemError, match=message):
        fp.Measurements(*arguments)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (fp.Measurements([0.5, 2.0], [1.0, 1.0]), r"1 of 2 measurements lie outside the domain .* the first at \(2\)"),
        (fp.Measurements([[0.5, 0.5]], [1.0]), r"2 coordinate\(s\); the problem has 1"),
        (fp.Measurements([0.5], [1.0], times=0.1), "have times, but the problem is static"),
        (fp.Measurements([0.5], [1.0], field="w"), "the field 'w' was measured, but the fields are 'u'"),
        (fp.Measurements([0.5], [1.0], derivative="q"), "derivative='q' is not made of the coordinates 'x'"),
    ],
)
def test_measurements_that_do_not_fit_the_problem(data, message):
    with pytest.raises(fp.ProblemError, match=message):
        fp.infer(STATIC, data)


def test_measurements_at_other_times_are_refused():
    problem = fp.Problem(
        "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(1.0)}
    )
    with pytest.raises(fp.ProblemError, match="1 of 2 measurements lie outside the time 0 … 1, the first at t = 2"):
        fp.infer(problem, fp.Measurements([0.5, 0.5], [1.0, 1.0], times=[0.5, 2.0]))
    with pytest.raises(fp.ProblemError, match="give times= between 0 and 1"):
        fp.infer(problem, fp.Measurements([0.5], [1.0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fp.Unknown("a"), "start of an Unknown must be a finite number, got 'a'"),
        (lambda: fp.Unknown(1.0, 2.0, 1.0), "needs lower < upper, got lower=2 and upper=1"),
        (lambda: fp.Unknown(5.0, 0.0, 1.0), "the start 5 of an Unknown lies outside its bounds 0 … 1"),
        (lambda: fp.UnknownField(-1.0, positive=True), "a positive UnknownField starts at a positive number"),
        (lambda: fp.UnknownField(np.nan), "start of an UnknownField must be a finite number"),
        (lambda: fp.Relative(0), r"Relative\(…\) takes a positive part such as 0.01, got 0"),
    ],
)
def test_refused_unknowns(make, message):
    with pytest.raises(fp.ProblemError, match=message):
        make()


def test_unknowns_stay_symbols():
    assert str(STATIC.equations[0].right_side) == "k*u_xx + 1"
    assert str(STATIC.at(k=3).equations[0].right_side) == "3*u_xx + 1"
    assert STATIC.at(k=3).parameters.inferred == {}
    assert pickle.loads(pickle.dumps(STATIC)).parameters.inferred == {"k": fp.Unknown(2.0, 1.0, 3.0)}


def test_an_unknown_field_and_its_derivatives_stay_functions():
    given = {"gamma": fp.UnknownField(2.0, positive=True)}
    problem = fp.Problem("div(gamma*grad(u)) = 1", fp.Box([0, 0], [1, 1]), boundary="u = 0", parameters=given)
    assert "loggamma_x(x, y)" in str(problem.equations[0].right_side)
    assert problem.is_linear


# ---- series of sensors ----------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [None, 0.1, fp.Relative(0.01), [[1, 2, 3], [4, 5, 6]]])
def test_series_of_sensors_are_single_values(noise):
    x, t, values = np.array([0.2, 0.7]), np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(2, 3)
    data = fp.Measurements(x, values, t, noise=noise)
    assert data.points[:, 0].tolist() == [0.2] * 3 + [0.7] * 3
    assert data.times.tolist() == [1, 2, 3, 1, 2, 3]
    assert data.values.tolist() == [0, 1, 2, 3, 4, 5]
    if isinstance(noise, list):
        assert data.noise.tolist() == [1, 2, 3, 4, 5, 6]


def test_series_of_other_shapes_are_refused():
    values = np.ones((2, 3))
    with pytest.raises(
        fp.ProblemError, match=r"values of shape \(2, 3\) are series of 2 points, each at the same 3 times"
    ):
        fp.Measurements([0.2, 0.7], values)
    with pytest.raises(
        fp.ProblemError, match=r"got points of shape \(3,\) and times of shape \(2,\)\. Write values\.T\."
    ):
        fp.Measurements([0.2, 0.5, 0.7], values, [0, 1])
    with pytest.raises(fp.ProblemError, match=r"2 values need one noise or 2|6 values need one noise or 6 of them"):
        fp.Measurements([0.2, 0.7], values, [0, 1, 2], noise=[1, 2])

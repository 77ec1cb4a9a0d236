"""Solves for one number: it is within its bar of the closed form, and the search stops by its error."""

import numpy as np
import pytest

import frozenpinn as fp

ROD = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
PLATE = fp.Problem("-lap(u) = 4", fp.Disk(), boundary="u = 0")
DECAY = np.exp(-0.1 * np.pi**2)
CORNER = fp.Problem("lap(u) = -1", fp.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]), boundary="u = 0")


@pytest.mark.parametrize(
    ("problem", "quantity", "exact"),
    [
        (ROD, "integral(k*u_n, side='right')", -0.1 * np.pi * DECAY),
        (ROD, "mean(u, where='x < 0.5', t=0.5)", 2 / np.pi * np.sqrt(DECAY)),
        (ROD, "value(u_x, x=0.25)", np.pi * np.sqrt(0.5) * DECAY),
        (ROD, "integral(u^2, along=[[0.25], [0.75]], t=0)", 0.25 + 1 / (2 * np.pi)),
        (PLATE, "integral(u)", np.pi / 2),
        (PLATE, "integral(-u_n, side='boundary')", 4 * np.pi),
        (PLATE, "value(x*u_x, x=0.5, y=0)", -0.5),
    ],
)
def test_the_truth_is_within_the_bar(problem, quantity, exact):
    solution = fp.solve(problem, tol=1e-5, quantity=quantity)
    found = solution.quantity
    assert solution.status == "converged"
    assert abs(found - exact) <= found.error <= 1e-5 * abs(exact)
    assert f"{quantity} = {found!r}" in str(solution.report)


def test_a_number_may_be_known_long_before_the_fields():
    whole = fp.solve(CORNER, tol=1e-8)
    number = fp.solve(CORNER, tol=1e-5, quantity="value(u, x=0.5, y=0.5)")
    assert number.width < whole.width
    assert number.quantity == pytest.approx(float(whole(0.5, 0.5)), abs=number.quantity.error)


def test_a_quadrature_that_is_not_good_enough_counts_in_the_bar():
    solution = fp.solve(CORNER, tol=1e-5)
    with pytest.warns(fp.FrozenPinnWarning, match="do not agree to rtol=1e-09"):
        flux = solution.integral("u_n", side="outer")
    assert 1e-7 < abs(flux + 3) <= flux.error < 1e-3


def test_files_keep_the_number(tmp_path):
    solution = fp.solve(PLATE, tol=1e-5, quantity="mean(u)")
    solution.save(tmp_path / "a.fpinn")
    again = fp.load(tmp_path / "a.fpinn").quantity
    assert (again, again.error) == (solution.quantity, solution.quantity.error)
    assert fp.solve(PLATE, tol=1e-3).quantity is None


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        ("u", "is not one of 'integral', 'mean', 'value'; write for example"),
        ("integrl(u)", "Did you mean 'integral'?"),
        ("integral(v)", "unknown name 'v'"),
        ("integral(u, sid='left')", "has no 'sid'; .* Did you mean 'side'?"),
        ("integral(u, side='up')", "unknown side 'up'; the sides are 'boundary'"),
        ("integral(u, side=left)", "left is no number, quoted text or list"),
        ("integral(u, where='x > 9')", "holds nowhere in the domain"),
        ("integral(u, along=[[0, 0], [2, 0]])", "the curve leaves the domain"),
        ("value(u, x=0.5)", "is a value at a place, and lacks 'y'"),
        ("value(u, x=3, y=0)", r"the point \(3, 0\) lies outside the domain"),
        ("value(u, x='0', y=0)", "'0' is no number; coordinates and times are"),
        ("integral(u, t=1)", "has no 't'"),
        ("integral(grad(u))", "is of a vector; write a component"),
        (3, "quantity is text; write for example .* Got 3"),
    ],
)
def test_quantities_that_make_no_sense(quantity, text):
    with pytest.raises(fp.FrozenPinnError, match=text):
        fp.solve(PLATE, tol=1e-4, quantity=quantity)


def test_a_quantity_needs_a_tolerance_and_a_time_that_was_solved_for():
    with pytest.raises(fp.SettingsError, match="quantity= is what the tolerance is for; give tol=1e-4, too"):
        fp.solve(PLATE, quantity="integral(u)")
    with pytest.raises(fp.EvaluationError, match="t = 3 lies outside the solved interval"):
        fp.solve(ROD, tol=1e-4, quantity="integral(u, t=3)")

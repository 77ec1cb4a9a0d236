"""Checks of static problems before they are solved."""

import re
import warnings

import pytest

import frozenpinn as fp
from frozenpinn.analysis.ellipticity import undetermined_fields
from frozenpinn.errors import ProblemError

SQUARE = fp.Box([0, 0], [1, 1])
LINE = fp.Interval(0, 1)


@pytest.mark.parametrize(
    "problem",
    [
        fp.Problem("lap(u) + 144*u = x", SQUARE, boundary="u = 0"),
        fp.Problem("2*u_xx + u_xy + 3*u_yy = u_x", SQUARE, boundary="u = 0"),
        fp.Problem("div((1 + x**2)*grad(u)) = 1", fp.Disk(), boundary="u + u_n = 0"),
        fp.Problem("biharmonic(u) = 1", fp.Disk(), boundary=["u = 0", "u_n = 0"]),
        fp.Problem(["lap(u) = v", "lap(v) = 1"], SQUARE, boundary=["u = 0", "v = 0"]),
        fp.Problem("u_xxxx = 1", LINE, boundary=["u = 0", "u_xx = 0"]),
        fp.Problem("u_xxxx = 1", LINE, boundary={"left": ["u = 0", "u_x = 0"], "right": ["u_xx = 0", "u_xxx = 0"]}),
        fp.Problem("u_x + u = 0", LINE, boundary={"left": "u = 1", "right": fp.Free()}),
        fp.Problem("lap(u) = exp(u)", fp.Ball([0, 0, 0], 1), boundary="u = 0"),
        fp.Problem("(1 + u_y**2)*u_xx - 2*u_x*u_y*u_xy + (1 + u_x**2)*u_yy = 0", SQUARE, boundary="u = x"),
        fp.Problem("lap(u) - u = 1", fp.Box([0, 0], [1, 1], periodic=True)),
    ],
    ids=lambda problem: str(problem.equations[0])[:40],
)
def test_no_objections(problem):
    assert not fp.check(problem)


@pytest.mark.parametrize(
    ("equation", "boundary", "words"),
    [
        ("u_xx - u_yy = 0", "u = x", r"not elliptic at x = \(.*as in u_xx - u_yy = 0.*call it t and give time="),
        ("x*u_xx + x*u_yy - u_x = 1", "u = 0", None),
        ("(x - 0.5)*lap(u) = 1", "u = 0", r"has one sign at x = .* and the other at x = "),
        (
            "lap(u) = 1",
            ["u = 0", "u_n = 0"],
            r"side 'left' has 2 condition\(s\) for 1 field\(s\), but .* need 1; .*too m",
        ),
        (
            "biharmonic(u) = 1",
            "u = 0",
            r"side 'left' has 1 condition\(s\) .* need 2; that is too few: the solution is not unique",
        ),
    ],
)
def test_warnings(equation, boundary, words):
    problem = fp.Problem(equation, SQUARE, boundary=boundary)
    if words is None:
        assert not fp.check(problem)
        return
    assert any(re.search(words, text) for text in told(problem))


def told(problem):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fp.check(problem)
        except fp.ProblemError as error:
            return [str(error)]
    return [str(warning.message) for warning in caught]


def test_conditions_are_counted_together_in_one_dimension():
    with pytest.raises(fp.ProblemError, match=r"both ends together have 1 condition\(s\) .* need 2; .*too few"):
        fp.check(fp.Problem("u_xx = 1", LINE, boundary={"left": "u = 0", "right": fp.Free()}))


def test_up_to_a_constant():
    problem = fp.Problem("lap(u) = cos(pi*x)", SQUARE, boundary="u_n = 0")
    assert undetermined_fields(problem) == ["u"]
    words = (
        r"'u' is determined up to a constant: .*null space\. Add constraint='mean\(u\) = 0', .*constraint='u\(0, 0\)"
    )
    with pytest.raises(ProblemError, match=words):
        fp.solve(problem)


@pytest.mark.parametrize("domain", [fp.Box([0, 0], [1, 1], periodic=True), fp.Interval(0, 1, periodic=True)])
def test_periodic_solutions_are_determined_up_to_a_constant(domain):
    with pytest.raises(ProblemError, match="determined up to a constant"):
        fp.check(fp.Problem("lap(u) = sin(2*pi*x)", domain))


@pytest.mark.parametrize(
    ("equation", "boundary", "gap"),
    [
        ("lap(u) = 1", "u_n = 0", "-1"),
        ("lap(u) = 4", "u_n = 1.5", "2"),
        ("div((1 + x)*grad(u)) = 0", "u_n = 1", "6"),
        ("2*lap(u) = 8", "3*u_n = 3.00003", "8e-05"),
    ],
)
def test_data_that_do_not_balance(equation, boundary, gap):
    problem = fp.Problem(equation, SQUARE, boundary=boundary, constraint="mean(u) = 0")
    with pytest.raises(ProblemError, match=rf"source and the fluxes through the boundary add up to {gap},"):
        fp.check(problem)


def test_data_that_balance():
    assert not fp.check(fp.Problem("lap(u) = 4", SQUARE, boundary="u_n = 1", constraint="mean(u) = 0"))


@pytest.mark.parametrize(
    ("boundary", "constraint", "surplus"),
    [
        ("u = 0", "mean(u) = 0", "mean(u) = 0"),
        ("u_n = 0.25", ["mean(u) = 0", "u(0, 0) = 1"], "u(0, 0) = 1"),
        ("u_n = 0.25", "mean(u) = 0", None),
    ],
)
def test_constraints_too_many(boundary, constraint, surplus):
    found = told(fp.Problem("lap(u) = 1", SQUARE, boundary=boundary, constraint=constraint))
    wanted = [] if surplus is None else [f"the constraint '{surplus}' is one too many: 'u' is determined without it"]
    assert [text[: len(start)] for text, start in zip(found, wanted, strict=True)] == wanted


def test_sides_that_contradict_each_other():
    boundary = {"left": "u = 1", "right": "u = 0", "bottom": "u = 0", "top": "u = 0"}
    texts = told(fp.Problem("lap(u) = 0", SQUARE, boundary=boundary))
    assert len(texts) == 2
    assert "contradict each other by 1 where the sides meet, at x = (0, 0);" in texts[0]


def test_small_coefficients_of_the_highest_derivatives_count():
    turning = fp.Problem("1e-8*u_xx + 2*(x - 0.3)*u_x = 0", fp.Interval(-1, 1), boundary="u = x")
    assert not [finding for finding in fp.check(turning) if finding.kind == "conditions"]

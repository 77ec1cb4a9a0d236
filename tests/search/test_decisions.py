"""What was decided in a solve is in ``solution.decisions``, and ``Settings(without=…)`` does without."""

import re
from pathlib import Path

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import SettingsError
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.runtime.decisions import FIXED, OPTIONAL, Decision, distinct, read_decisions
from frozenpinn.statement.findings import INSISTED
from frozenpinn.transforms import TRANSFORMS

pytestmark = pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
LINE, SQUARE, DISK = fp.Interval(0, 1), fp.Box([0, 0], [1, 1]), fp.Disk()
BENT = SQUARE - fp.Box([0.5, 0.5], [1.2, 1.2])
HOLED = DISK - fp.Disk((0.3, 0), 0.2)


def solved(problem, tol=1e-4, without=(), **options):
    return fp.solve(problem, tol=tol, settings=fp.Settings(without=without), **options)


def names(found):
    return [name for name, _ in found.decisions]


def rod(initial="sin(pi*x)", boundary="u = 0", equation="u_t = u_xx", time=(0, 0.1), domain=LINE, **more):
    return fp.Problem(equation, domain, time, initial, boundary, **more)


def static(equation="lap(u) = -1", domain=DISK, boundary="u = 0", **more):
    return fp.Problem(equation, domain, boundary=boundary, **more)


PROBLEMS = {
    "closed form": rod,
    "coarser companion": lambda: rod(
        "sin(2*pi*x)*cos(2*pi*y)", None, "u_t = lap(u)", domain=fp.Box([0, 0], [1, 1], periodic=True)
    ),
    "known fronts": lambda: rod(0, {"left": "u = 1", "right": "u = 0"}),
    "breaks in time": lambda: rod(0, "u = 0", "u_t = u_xx + where(t < 0.05, 1, 0)"),
    "narrow features": lambda: rod(0, "u = 0", "u_t = u_xx + exp(-1e5*(x - 0.4)^2)"),
    "trial basis": lambda: rod(equation="u_t = u_xx - u^3"),
    "trial of waves": lambda: rod("sin(2*pi*x)", None, "u_t = u_xx - u^3", domain=fp.Interval(0, 1, periodic=True)),
    "products": lambda: rod("sin(pi*x)*sin(pi*y)", equation="u_t = lap(u)", domain=SQUARE),
    "subspace": lambda: rod("exp(x + y)", "u = exp(x + y + 2*t)", "u_t = lap(u)", domain=DISK),
    "interfaces": lambda: rod(equation="u_t = dx(where(x < 0.5, 1, 3)*u_x)"),
    "curved coordinates": lambda: fp.Problem(
        "u_t = lap(u)", fp.Interval(0, 1), (0, 0.1), "1 - r^2", "u = 0", coordinates="polar"
    ),
    "pilots": static,
    "corners": lambda: static(domain=BENT),
    "holes": lambda: static(domain=HOLED),
    "wedges": lambda: static("2*u_xx + u_xy + u_yy = -1", BENT),
    "boundary layers": lambda: static("-1e-3*u_xx + u_x = 1", LINE),
    "narrow sources": lambda: static("lap(u) = exp(-300*((x - 0.3)^2 + y^2))"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_decided_is_recorded(name):
    found = solved(PROBLEMS[name](), 1e-3)
    assert name in names(found)
    assert all(reason for _, reason in found.decisions)


@pytest.mark.parametrize("name", sorted(PROBLEMS.keys() & OPTIONAL.keys() - {"holes", "corners", "wedges"}))
def test_every_decision_can_be_switched_off(name):
    with np.errstate(all="ignore"):
        found = solved(PROBLEMS[name](), 1e-2, (name,), time_limit=3)
    if name != "pilots":  # the only kind of features is recorded, too
        assert name not in names(found)
    assert found.error_estimate.worst < 0.5


@pytest.mark.parametrize("name", ["holes", "corners", "wedges"])
def test_functions_of_singularities_can_be_switched_off(name):
    found = fp.solve(PROBLEMS[name](), settings=fp.Settings(width=80, without=(name,)))
    assert name not in names(found)


def test_slopes_are_fitted_in_many_dimensions():
    problem = rod("exp(-x1^2 - x2*x3)", "u_n = 0", "u_t = lap(u)", (0, 0.02), fp.Box([-1] * 4, [1] * 4))
    fitted, unfitted = (
        fp.solve(problem, settings=fp.Settings(width=60, subspace=None, without=w)) for w in ((), ("fitted slopes",))
    )
    assert "fitted slopes" in names(fitted)
    assert "fitted slopes" not in names(unfitted)


def test_unknown_names_are_refused():
    with pytest.raises(SettingsError, match=r"without='logaritm' is no decision; those .* 'logarithm', .*Did you mean"):
        fp.Settings(without=("logaritm",))
    with pytest.raises(SettingsError, match=r"'closed form' can't be switched off; those that can be switched off"):
        fp.Settings(without=("closed form",))
    with pytest.raises(SettingsError, match=r"without is a tuple of names such as \('logarithm',\), got 'units'"):
        fp.Settings(without="units")
    assert fp.Settings(without=["units"]).without == ("units",)


def test_reports_and_files_have_them(tmp_path):
    for problem in (rod(0, {"left": "u = 1", "right": "u = 0"}), static()):
        solution = solved(problem)
        assert solution.decisions
        for name, reason in solution.decisions:
            assert f"{name}: {reason}" in str(solution.report)
        solution.save(tmp_path / "u.fpinn", overwrite=True)
        again = fp.load(tmp_path / "u.fpinn")
        assert again.decisions == solution.decisions
        assert str(again.report) == str(solution.report)


def test_modes_paths_and_inferences_have_them():
    drum = fp.modes(static("-lap(u) = lam*u", BENT, parameters={"lam": fp.Eigenvalue()}), 2)
    assert names(drum) == ["corners"]
    assert "decision    corners: derivatives" in str(drum.report)
    assert drum.report.from_dict(drum.report.as_dict()) == drum.report
    plate = fp.modes(static("-lap(u) = lam*u", SQUARE, parameters={"lam": fp.Eigenvalue()}), 2)
    assert names(plate) == ["products"]
    path = fp.follow(static("u_xx + lam*exp(u) = 0", LINE, parameters={"lam": 1.0}), "lam", (0, 1))
    assert names(path) == ["pilots"]
    assert "decision" in path.report
    unknown = rod(equation="u_t = k*u_xx", parameters={"k": fp.Unknown(0.3)})
    x = np.array([0.3, 0.5, 0.7])
    found = fp.infer(unknown, fp.Measurements(x, np.exp(-0.05 * np.pi**2) * np.sin(np.pi * x), times=0.05))
    assert found.decisions == found.solution.decisions


def test_estimates_keep_why_they_were_raised():
    estimate = ErrorEstimate({"u": 1e-3}, np.array([0.0]), {"u": np.array([1e-3])})
    why = Decision("doubt", "residuals do not fall")
    assert estimate.at_least(1e-4, why).decisions == ()
    raised = estimate.at_least(1e-2, why)
    assert raised.worst == pytest.approx(1e-2)
    assert raised.decisions == (why,)


def test_decisions_are_kept_once_and_in_order():
    one, other = Decision("units", "a"), Decision("doubt", "b")
    assert distinct([one, other, one]) == (one, other)
    assert read_decisions([["units", "a"]]) == (one,)


def test_every_decision_of_the_program_has_a_name_and_a_line():
    home = Path(fp.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in home.rglob("*.py") if path.name != "decisions.py"]
    noted = {name for text in texts for name in re.findall(r'(?:Decision|_note)\(\s*"([^"]+)"', text)}
    noted |= {name for text in texts for name in re.findall(r'found\["([^"]+)"\]', text)} & OPTIONAL.keys()
    pairs = {name for text in texts for name in re.findall(r'^\s*\("([^"]+)", _?missed_\w+,', text, re.MULTILINE)}
    refusals = set(INSISTED.values())  # that can be switched off; they take part in no solve
    assert noted | pairs | refusals == OPTIONAL.keys() | FIXED.keys()
    assert not OPTIONAL.keys() & FIXED.keys()
    switched = {name for text in texts for name in re.findall(r'"([^"]+)" (?:not )?in [\w.]*without', text)}
    listed = {transform.name for transform in TRANSFORMS}  # their names are known from the list
    assert switched | pairs | listed | refusals == OPTIONAL.keys() | listed

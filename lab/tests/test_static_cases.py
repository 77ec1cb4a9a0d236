"""Static cases: statements without faults, references that agree with closed forms, short solves, their records."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn import cli
from frozenpinn_lab.cases import CASES, find_case, static_linear, static_nonlinear, static_solids
from frozenpinn_lab.markdown import write_table
from frozenpinn_lab.references.harmonic import HarmonicReference, around, powers
from frozenpinn_lab.runner import run_case
from frozenpinn_lab.studies import static_width

STATIC = [case for case in CASES.values() if case.is_static and case.values is None]
MEMBERS = [
    pytest.param(case, variant, id=f"{case.name} {variant.label}".strip())
    for case in STATIC
    for variant in case.variants
]
#: Errors of narrow networks: a width for each, and what they must reach.
SHORT = {
    "poisson-5d": (120, 1e-5),
    "plate": (160, 1e-2),
    "l-shape": (80, 5e-2),
    "poisson-holes": (160, 1.0),
    "elasticity-hole": (240, 2e-1),
    "nonlinear-poisson": (80, 1e-5),
    "bratu": (60, 1e-3),
    "bratu-line": (60, 1e-3),
    "nonlinear-helmholtz": (80, 1e-5),
    "steady-burgers": (80, 1e-5),
    "liouville": (120, 1e-2),
    "minimal-surface": (120, 1e-2),
    "helmholtz-solid": (160, 1e-1),
}


def test_all_that_are_asked_for_are_there():
    assert {case.name for case in STATIC} == set(SHORT)
    for module in (static_linear, static_nonlinear, static_solids):
        assert all(CASES[case.name] is case for case in module.CASES)


@pytest.mark.parametrize(("case", "variant"), MEMBERS)
def test_statements_have_no_faults(case, variant):
    problem = case.problem(**variant.problem)  # warnings are errors: exact solutions satisfy equations and conditions
    assert problem.is_static
    assert set(problem.exact) == set(problem.fields)
    fp.check(problem)


@pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")
@pytest.mark.parametrize(("case", "variant"), MEMBERS)
def test_narrow_networks_come_close(case, variant):
    problem = case.problem(**variant.problem)
    width, most = SHORT[case.name]
    solution = fp.solve(problem, settings=fp.Settings(width=width))
    assert max(solution.error(name)["rel_l2"] for name in problem.fields) < most


# ---- references ---------------------------------------------------------------------------------------------------


def test_harmonic_functions_are_found_and_misfits_are_told():
    circle, other = around(0, 1, 60), around(0, 1, 37)
    exact = HarmonicReference.fitted(lambda z: powers(z, 6), (circle, (circle**3).real), (other, (other**3).real))
    assert exact.misfit < 1e-13
    assert exact(0.3, 0.4) == pytest.approx(0.3**3 - 3 * 0.3 * 0.4**2, abs=1e-13)
    rough = HarmonicReference.fitted(lambda z: powers(z, 2), (circle, (circle**3).real), (other, (other**3).real))
    assert rough.misfit > 0.5


@pytest.mark.parametrize("reference", [static_linear.l_shape_reference, static_linear.holes_reference])
def test_references_bound_their_own_error(reference):
    assert reference().misfit < 1e-12


def test_the_membrane_sags_as_in_the_literature():
    problem = static_linear.l_shape(load=True)
    assert problem.exact["u"](np.array([[-0.5, 0.5]]), 0.0)[0] == pytest.approx(0.13105, abs=5e-6)


def test_kirsch_concentrates_stress_threefold():
    """At the top of the hole, the stress along x is three times the tension."""
    problem = static_linear.elasticity(lam=2.0, mu=0.5)
    h = 1e-5
    places = np.array([[h, 1.0], [-h, 1.0], [0.0, 1.0 + h], [0.0, 1.0]])
    u, v = (problem.exact[name](places, 0.0) for name in ("u", "v"))
    strain_x, strain_y = (u[0] - u[1]) / (2 * h), (v[2] - v[3]) / h
    assert 3.0 * strain_x + 2.0 * strain_y == pytest.approx(3.0, abs=1e-3)


# ---- solids ---------------------------------------------------------------------------------------------------------


def test_solids_are_scaled():
    nut = static_solids.solid("nut.ply")
    assert np.max(nut.lengths) == pytest.approx(1.0)
    assert nut.lower == pytest.approx(-nut.upper)


def test_a_mesh_of_the_user(tmp_path):
    file = tmp_path / "pyramid.obj"
    file.write_text("v 0 0 0\nv 4 0 0\nv 0 4 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    case = find_case("helmholtz-solid").with_mesh(str(file))
    assert [variant.label for variant in case.variants] == ["pyramid, u1", "pyramid, u2"]
    problem = case.problem(**case.variants[0].problem)
    assert problem.domain.measure == pytest.approx(1 / 6)
    command = ["bench", "helmholtz-solid", "--mesh", str(file), "--variant", "pyramid, u1", "--seeds", "1"]
    result = CliRunner().invoke(cli.app, [*command, "--precision", "low", "--json", "-"])
    (record,) = json.loads(result.stdout)
    assert record["status"] == "ok"
    assert f"--mesh {file}" in record["command"]


def test_errors_about_meshes(tmp_path):
    with pytest.raises(fp.errors.SettingsError, match="case 'bratu' has a domain of its own; --mesh is for helmholtz"):
        find_case("bratu").with_mesh("bunny.ply")
    flat = tmp_path / "flat.obj"
    flat.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(fp.errors.ProblemError, match="has no closed surface of triangles in space"):
        static_solids.solid(str(flat))
    with pytest.raises(fp.errors.ProblemError, match=r"there is no file '.*nothing\.ply'"):
        static_solids.solid("nothing.ply")


# ---- records --------------------------------------------------------------------------------------------------------


def test_records_of_static_cases_have_no_windows():
    (record,) = run_case(find_case("steady-burgers"), "best", "high", [0], labels=["waves"])
    assert record["status"] == "ok"
    assert record["windows"] is None
    assert record["rank"] == record["width"]
    assert record["rel_l2"]["mean"] < 1e-10
    assert record["estimate"]["values"][0] < 1e-9
    assert "| steady-burgers, waves |" in write_table([record])


def test_automatic_recipe_meets_its_tolerance():
    (record,) = run_case(find_case("nonlinear-poisson"), "auto", "high", [0])
    assert record["verdict"] == "converged"
    assert record["rel_l2"]["mean"] < 1e-8


def test_published_figures_belong_to_variants():
    case = find_case("helmholtz-solid")
    assert case.figures("high", case.variants[0]).rel_l2 == 6.90e-7
    assert case.figures("high", case.variants[1]).rel_l2 == 1.02e-3
    assert case.figures("low", case.variants[0]).rel_l2 is None


# ---- the study of widths ---------------------------------------------------------------------------------------------


def test_errors_fall_with_the_width():
    exact, source = static_solids.SOLUTIONS["u2"], static_solids.SOURCES["u2"]
    problem = fp.Problem(f"lap(u) - u = {source}", fp.Ball([0, 0, 0], 0.5), boundary=f"u = {exact}", exact=exact)
    rows = static_width.rows(1, lambda text: None, (50, 300), {"u2": problem})
    first, second = rows[:2]
    assert second["u2_ours"] < 0.1 * first["u2_ours"]
    assert second["u2_elm"] < first["u2_elm"]
    assert first["u1_ours"] is None
    assert {row["width"] for row in rows[2:]} == {3000, 4000}
    assert rows[2]["published_u1_elm"] == 6.90e-7
    assert static_width.STUDY.cells(first)[0] == "50"


def test_modes_of_membranes_are_judged_by_their_eigenvalues():
    (record,) = run_case(find_case("membrane-modes"), "best", "high", [0], labels=["square"])
    assert record["status"] == "ok"
    assert record["rel_l2"]["mean"] < 1e-11
    assert record["estimate"]["values"][0] < 1e-10

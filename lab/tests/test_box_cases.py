"""The eleven cases on boxes: they can be stated, their exact solutions fit them, and peers have settings for them."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import CASES, box_reactions, box_transport, box_waves
from frozenpinn_lab.cases.box_transport import Travelling
from frozenpinn_lab.peers import solve_baseline
from frozenpinn_lab.runner import BenchRun, carry_out, worst_error

BOXES = (*box_reactions.CASES, *box_transport.CASES, *box_waves.CASES)
MEMBERS = [
    pytest.param(case, variant, id=f"{case.name}, {variant.label}") for case in BOXES for variant in case.variants
]
CLOSED = {"advection-diffusion-3d", "heat-anisotropic-2d", "wave-3d"}


def test_there_are_eleven_with_more_than_one_set_of_parameters_each():
    assert {case.name for case in BOXES} == {
        "allen-cahn-2d",
        "allen-cahn-3d",
        "brusselator-2d",
        "gray-scott-2d",
        "swift-hohenberg-2d",
        "burgers-2d",
        "swirl-2d",
        "advection-diffusion-3d",
        "heat-anisotropic-2d",
        "wave-3d",
        "schroedinger-2d",
    }
    for case in BOXES:
        assert CASES[case.name] is case
        assert len(case.variants) >= 2
        assert len({str(variant.problem) for variant in case.variants}) == len(case.variants)
        assert {"spectral", "py-pde"} <= set(case.baselines)
        assert {("best", "high"), ("best", "low")} <= set(case.settings)


@pytest.mark.parametrize(("case", "variant"), MEMBERS)
def test_statements_have_no_faults_and_exact_solutions_begin_with_the_initial_data(case, variant):
    problem = case.problem(**variant.problem)  # warnings are errors: closed forms satisfy equations and conditions
    assert not fp.check(problem)
    x = problem.domain.sample(50, "random", 1).x
    for name in problem.fields:
        exact, initial = problem.exact[name](x, 0.0), problem.initial[name](x, 0.0)
        assert np.max(np.abs(exact - initial)) < 1e-12 * max(1.0, np.max(np.abs(initial)))


@pytest.mark.parametrize(("case", "variant"), [m for m in MEMBERS if m.values[0].name in CLOSED])
def test_waves_solve_the_linear_ones_at_once(case, variant):
    problem = case.problem(**variant.problem)
    settings = {**case.baselines["spectral"].settings, **variant.peers.get("spectral", {})}
    solution = solve_baseline("spectral", problem, **settings)
    assert solution.steps == 0
    assert solution.error(times=5)["rel_l2"] < 2e-6


@pytest.mark.parametrize(("case", "variant"), [m for m in MEMBERS if m.values[0].name not in CLOSED])
def test_waves_and_references_agree(case, variant):
    """Two codes, for the first steps: one reads the equation, in the other it is written out by hand."""
    problem = case.problem(**variant.problem)
    short = problem.during((0, problem.time[1] * 3 / 99))
    settings = {**case.baselines["spectral"].settings, **variant.peers.get("spectral", {})}
    solution = solve_baseline("spectral", short, **settings)
    assert worst_error(solution, short, times=4)["rel_l2"] < 2e-6


@pytest.mark.parametrize("well", [False, True])
def test_particles_are_conserved(well):
    problem = box_waves.schroedinger(well)
    grid = np.stack([m.ravel() for m in np.meshgrid(*[2 * np.pi * np.arange(40) / 40] * 2)], axis=1)
    count = [sum(np.mean(problem.exact[name](grid, t) ** 2) for name in ("u", "v")) for t in (0.0, 10 / 99)]
    assert count[1] == pytest.approx(count[0], rel=1e-8)


def test_the_travelling_profile_solves_its_equation():
    profile, h = Travelling(4.0, (3.0, -2.0, 1.0), 0.01), 1e-3
    x, t = np.random.default_rng(0).random((20, 3)) * 6, 0.7

    def at(shift=0.0, axis=0, time=0.0):
        return profile(x + shift * np.eye(3)[axis], t + time)

    left = (at(time=h) - at(time=-h)) / (2 * h)
    right = sum(
        0.01 * (at(h, axis) - 2 * at() + at(-h, axis)) / h**2 - speed * (at(h, axis) - at(-h, axis)) / (2 * h)
        for axis, speed in enumerate(profile.velocity)
    )
    assert np.max(np.abs(left - right)) < 1e-4 * np.max(np.abs(left))


def test_systems_are_judged_by_their_worst_field():
    problem = box_waves.schroedinger().during((0, 6 / 99))
    solution = solve_baseline("spectral", problem, modes=12, step=0.05)
    errors = [solution.error(name, times=4)["rel_l2"] for name in problem.fields]
    assert worst_error(solution, problem, times=4)["rel_l2"] == max(errors)
    assert errors[0] != errors[1]


def test_variants_change_settings_of_peers():
    case = CASES["heat-anisotropic-2d"]
    records = [carry_out(BenchRun(case, variant, "spectral", seeds=(0,))) for variant in case.variants]
    assert [record["points"] for record in records] == [256, 4096]
    assert not any(record["note"] for record in records)

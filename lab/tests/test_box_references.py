"""Spectral references on boxes: against closed forms, and against themselves with more modes and shorter steps."""

import numpy as np
import pytest

from frozenpinn_lab.cases import box_reactions, box_transport, box_waves
from frozenpinn_lab.references import BoxReference

PI = np.pi


def points(reference, n=40):
    d = len(reference.lower)
    return reference.lower + reference.lengths * np.random.default_rng(0).random((n, d))


def distance(a, b, t):
    x = points(a)
    return max(np.linalg.norm(u - v) / np.linalg.norm(v) for u, v in zip(a.at(x, t), b.at(x, t), strict=True))


# ---- closed forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waves", "start"),
    [
        ("fourier", lambda x, y: np.sin(2 * PI * x) * np.cos(4 * PI * y)),
        ("cosine", lambda x, y: np.cos(2 * PI * x) * np.cos(4 * PI * y)),
        ("sine", lambda x, y: np.sin(2 * PI * x) * np.sin(4 * PI * y)),
    ],
)
def test_diffusion(waves, start):
    heat = BoxReference(
        (0, 0),
        (1, 1),
        [lambda dx, dy: 0.1 * (dx**2 + dy**2)],
        [start],
        lambda w: [0 * w.fields[0]],
        modes=16,
        step=0.03,
        waves=waves,
    )
    x = points(heat)
    for t in (0.0, 0.1, 0.06, 0.25):
        exact = np.exp(-2 * PI**2 * t) * start(*x.T)
        assert np.max(np.abs(heat.field(0)(x, t) - exact)) < 1e-13


def test_reaction_alone_and_order_four():
    def logistic(step):
        return BoxReference(
            (0, 0, 0),
            (1, 1, 1),
            [lambda *d: 1 + 0 * sum(d)],
            [lambda x, y, z: 1 / (2 + np.cos(2 * PI * x))],
            lambda w: [-(w.fields[0] ** 2)],
            modes=24,
            step=step,
        )

    x = points(logistic(0.1))
    u = 1 / (2 + np.cos(2 * PI * x[:, 0]))
    exact = u * np.e / (1 + u * (np.e - 1))
    errors = [np.max(np.abs(logistic(step).field(0)(x, 1.0) - exact)) for step in (0.2, 0.1, 0.05)]
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 4) < 0.4)


def test_transport_by_derivatives():
    moved = BoxReference(
        (0, 0),
        (1, 1),
        [lambda dx, dy: 0 * (dx + dy)],
        [lambda x, y: np.sin(2 * PI * (x + y))],
        lambda w: [-w.derivative(0, 0) - 2 * w.derivative(0, 1)],
        modes=8,
        step=0.005,
    )
    x = points(moved)
    assert np.max(np.abs(moved.field(0)(x, 0.5) - np.sin(2 * PI * (x[:, 0] + x[:, 1] - 1.5)))) < 1e-5


def test_complex_fields():
    plane = BoxReference(
        (0, 0),
        (2 * PI, 2 * PI),
        [lambda dx, dy: 0.5j * (dx**2 + dy**2)],
        [lambda x, y: np.exp(1j * (2 * x - y))],
        lambda w: [-1j * np.abs(w.fields[0]) ** 2 * w.fields[0]],
        modes=8,
        step=0.01,
    )
    x = points(plane)
    phase = 2 * x[:, 0] - x[:, 1] - (2.5 + 1) * 0.7
    assert np.max(np.abs(plane.field(0)(x, 0.7) - np.cos(phase))) < 1e-8
    assert np.max(np.abs(plane.field(0, np.imag)(x, 0.7) - np.sin(phase))) < 1e-8


# ---- behaviour ------------------------------------------------------------------------------------------


def small():
    return box_reactions.allen_cahn_reference.__wrapped__(2, 0.2, True, 1.0, 16, 2)


def test_times_may_come_in_any_order_and_values_are_kept():
    forward, backward = small(), small()
    x, times = points(forward), (0.0, 0.05, 0.3, 0.7, 1.0)
    there = [forward.at(x, t) for t in times]
    back = [backward.at(x, t) for t in reversed(times)][::-1]
    assert np.array_equal(there, back)
    assert forward.at(x, 0.3) is forward.at(x, 0.3)


def test_tensor_grids_and_scattered_points_agree():
    reference = small()
    x, y = np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 5), indexing="ij")
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    assert (
        np.max(np.abs(reference.at(grid, 0.4) - reference.at(np.concatenate([grid, [[0.1, 0.2]]]), 0.4)[:, :-1]))
        < 1e-13
    )


def test_nothing_is_computed_before_it_is_needed():
    def refuse(w):
        raise AssertionError("stepped")

    reference = BoxReference((0, 0), (1, 1), [lambda dx, dy: dx**2], [lambda x, y: x + y], refuse, modes=8, step=0.1)
    assert np.array_equal(reference.field(0)(np.array([[0.5, 0.2]]), 0.0), [0.7])
    with pytest.raises(AssertionError, match="stepped"):
        reference.field(0)(np.array([[0.5, 0.2]]), 0.1)


@pytest.mark.parametrize("change", [{"modes": 7}, {"step": 0.0}, {"keep": 0.0}, {"waves": "square"}])
def test_nonsense_is_refused(change):
    settings = {"modes": 8, "step": 0.1} | change
    with pytest.raises(ValueError, match="a box reference needs"):
        BoxReference((0, 0), (1, 1), [lambda dx, dy: dx], [lambda x, y: x], lambda w: [0], **settings)


def test_times_before_the_start_and_blow_up_are_told():
    with pytest.raises(ValueError, match="before the start"):
        small().at(np.zeros((1, 2)), -0.1)
    growing = BoxReference(
        (0, 0),
        (1, 1),
        [lambda dx, dy: dx**2],
        [lambda x, y: 1 + 0 * x],
        lambda w: [9 * w.fields[0] ** 3],
        modes=8,
        step=0.1,
    )
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="not finite after"):
        growing.at(np.zeros((1, 2)), 3.0)


# ---- the references of the cases --------------------------------------------------------------------------

FIRST = 5 / 99  #: of the whole time; the first steps are the hardest, and the test is short
CASES = {
    "allen-cahn-2d": (box_reactions.allen_cahn_reference, (2, 0.05, True, 4.0), (128, 3)),
    "allen-cahn-2d no flux": (box_reactions.allen_cahn_reference, (2, 0.08, False, 4.0), (128, 3)),
    "allen-cahn-3d": (box_reactions.allen_cahn_reference, (3, 0.13, True, 3.0), (40, 1)),
    "brusselator-2d": (box_reactions.brusselator_reference, (1.0, 1.7, 5e-4, 5.0), (80, 14)),
    "brusselator-2d oscillating": (box_reactions.brusselator_reference, (1.0, 3.0, 2e-3, 5.0), (80, 14)),
    "gray-scott-2d": (box_reactions.gray_scott_reference, (0.04, 0.06, 4e-4, 100.0), (128, 12)),
    "gray-scott-2d division": (box_reactions.gray_scott_reference, (0.03, 0.06, 8e-4, 150.0), (128, 12)),
    "swift-hohenberg-2d": (box_reactions.swift_hohenberg_reference, (0.4, 0.0, 10.0), (96, 8)),
    "burgers-2d": (box_transport.burgers_reference, (0.012, 0.4, 0.0), (160, 3)),
    "swirl-2d eddies": (box_transport.eddies_reference, (1.0, 0.01, 4.0), (96, 4)),
    "schroedinger-2d": (box_waves.schroedinger_reference, (False, 2.0), (72, 18)),
    "schroedinger-2d well": (box_waves.schroedinger_reference, (True, 2.0), (72, 18)),
}


@pytest.mark.parametrize("name", CASES)
def test_references_are_converged(name):
    build, arguments, (modes, substeps) = CASES[name]
    used = build.__wrapped__(*arguments, modes, substeps)
    assert (used.modes, used.stride) == (modes, substeps)
    t = FIRST * 99 * used.stride * used.step
    assert distance(used, build.__wrapped__(*arguments, modes // 8 * 10, substeps), t) < 1e-10
    assert distance(used, build.__wrapped__(*arguments, modes, 2 * substeps), t) < 1e-8


def test_a_reference_is_converged_to_the_end():
    build, arguments, (_, substeps) = CASES["brusselator-2d"]
    used = build.__wrapped__(*arguments, 48, substeps)
    assert distance(used, build.__wrapped__(*arguments, 48, substeps // 2), arguments[-1]) < 1e-8


def test_the_cases_use_these_sizes():
    for problem, name in (
        (box_reactions.allen_cahn(), "allen-cahn-2d"),
        (box_reactions.allen_cahn(3), "allen-cahn-3d"),
        (box_reactions.brusselator(), "brusselator-2d"),
        (box_reactions.gray_scott(), "gray-scott-2d"),
        (box_reactions.swift_hohenberg(), "swift-hohenberg-2d"),
        (box_transport.burgers(), "burgers-2d"),
        (box_transport.eddies(), "swirl-2d eddies"),
        (box_waves.schroedinger(), "schroedinger-2d"),
    ):
        reference = problem.exact["u"].function.function.reference
        assert (reference.modes, reference.stride) == CASES[name][2]

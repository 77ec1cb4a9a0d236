"""Neurons that keep a linear constraint, on shapes and in three dimensions."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.constrained_basis import obeying
from frozenpinn.basis.network import Network
from frozenpinn.errors import silenced
from frozenpinn.transforms import without_constraints

FLOW = ["U_t + advect(U, U) = -grad(p) + nu*lap(U)", "div(U) = 0"]
EXACT = ["sin(x)*cos(y)*exp(-2*nu*t)", "-cos(x)*sin(y)*exp(-2*nu*t)"]
NU = 0.05


def vortices(domain, boundary=None, **changed):
    start = {"U": [text.replace("*exp(-2*nu*t)", "") for text in EXACT]}
    sides = [f"U[{i}] = {text}" for i, text in enumerate(EXACT)] if boundary is None else boundary
    own = {"vectors": ("U",), "parameters": {"nu": NU}} | changed
    return fp.Problem(FLOW, domain, (0, 1), start, sides, **own)


@pytest.mark.parametrize("domain", [fp.Disk([0, 0], 1), fp.Ball([0, 0, 0], 1)])
def test_combinations_of_neurons_have_no_divergence(domain):
    d = domain.dimension
    problem = fp.Problem(FLOW, domain, (0, 1), {"U": [0] * d}, "U = 0", vectors={"U": d}, parameters={"nu": 1})
    inner = without_constraints(problem)
    points = domain.sample(100, "gauss", 0)
    hidden = fp.samplers.MultiScale(30).sample(points, rng=0)
    network = Network(hidden, points, inner.fields)
    combined = obeying(inner, network).toarray()
    assert combined.shape[1] == (d - 1) * 30 + d
    from frozenpinn.basis.hidden import Derivative, Term

    slopes = [hidden.operator(points.x, [Term("", Derivative(tuple(np.eye(d, dtype=int)[k])))]) for k in range(d)]
    divergence = np.concatenate(slopes, axis=1) @ combined
    assert np.max(np.abs(divergence)) <= 1e-12 * max(np.max(np.abs(s)) for s in slopes)


def test_vortices_on_a_disk():
    solution = fp.solve(vortices(fp.Disk([0.3, 0.2], 1.0)), tol=1e-5)
    x = solution.problem.domain.sample(200, "random", 5).x
    u = solution(*x.T, 0.7, field="U")
    decay = np.exp(-2 * NU * 0.7)
    wanted = np.array([np.sin(x[:, 0]) * np.cos(x[:, 1]), -np.cos(x[:, 0]) * np.sin(x[:, 1])]) * decay
    error = np.linalg.norm(u - wanted) / np.linalg.norm(wanted)
    assert solution.status == "converged"
    assert error <= 1e-6
    p, pressure = solution(*x.T, 0.7, field="p"), (np.cos(2 * x[:, 0]) + np.cos(2 * x[:, 1])) * decay**2 / 4
    assert np.std(p - pressure) <= 1e-5 * np.std(pressure)
    left = sum(solution(*x.T, 0.7, field="U" + c, derivative=c) for c in "xy")
    assert np.max(np.abs(left)) <= 1e-8


def test_a_given_pressure_drives_a_channel():
    sides = {
        "left": ["U[1] = 0", "dn(U[0]) = 0", "p = 2 - 2*exp(-3*t)"],
        "right": ["U[1] = 0", "dn(U[0]) = 0", "p = 0"],
    }
    sides |= {"bottom": "U = 0", "top": "U = 0"}
    channel = fp.Problem(
        FLOW, fp.Box([0, 0], [2, 1]), (0, 0.5), {"U": [0, 0]}, sides, vectors=("U",), parameters={"nu": 0.1}
    )
    with silenced(Warning):
        solution = fp.solve(channel, tol=1e-4)
    assert solution.status == "converged"
    y, force = np.linspace(0.1, 0.9, 5), 1 - np.exp(-1.5)
    plane = fp.solve(
        fp.Problem("u_t = 0.1*u_yy + 1 - exp(-3*t)", fp.Interval(0, 1), (0, 0.5), 0, "u = 0", coordinates=("y",)),
        tol=1e-7,
    )
    assert np.allclose(solution(np.full(5, 0.7), y, 0.5, field="Ux"), plane(y, 0.5), atol=1e-4)
    assert np.allclose(
        solution(np.array([0.0, 1.0, 2.0]), np.full(3, 0.4), 0.5, field="p"), [2 * force, force, 0], atol=2e-3
    )


def test_starts_off_the_constraint_are_projected_by_request():
    bump = "(1 - x^2 - y^2)^2"
    problem = fp.Problem(
        FLOW,
        fp.Disk([0, 0], 1),
        (0, 0.1),
        {
            "U": [
                f"-4*y*(1 - x^2 - y^2) - 4*x*(1 - x^2 - y^2)*{bump}",
                f"4*x*(1 - x^2 - y^2) - 4*y*(1 - x^2 - y^2)*{bump}",
            ]
        },
        "U = 0",
        vectors=("U",),
        parameters={"nu": 0.1},
    )  # a rotation, and a gradient of what vanishes with its slopes on the circle
    with silenced(Warning):
        solution = fp.solve(problem, settings=fp.Settings(width=300, without=("consistent start",)))
    x = problem.domain.sample(100, "random", 5).x
    r = 1 - np.sum(x**2, axis=1)
    assert np.allclose(solution(*x.T, 0.0, field="U"), [-4 * x[:, 1] * r, 4 * x[:, 0] * r], atol=3e-3)

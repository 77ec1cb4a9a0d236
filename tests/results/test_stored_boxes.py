"""Solutions on boxes in files and pickles: every way in which their course in time is kept."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp

SQUARE = fp.Box([0, 0], [1, 1])
BUMP = "sin(pi*x)*sin(pi*y)"
INFLOW = {"left": "u = 0", "right": fp.Free(), "bottom": fp.Free(), "top": fp.Free()}
KINDS = {  # kind of the trajectory, and a problem that leads to it
    "modes of axes": ("ModalTrajectory", fp.Problem("u_t = lap(u) - u", SQUARE, (0, 0.1), BUMP, "u = 0")),
    "modes": ("ModalTrajectory", fp.Problem("u_t = lap(u) + 1", SQUARE, (0, 0.1), BUMP, "u = 0")),
    "modes under data": ("ModalTrajectory", fp.Problem("u_t = lap(u) + t*x", SQUARE, (0, 0.1), "x", "u = x + t")),
    "modes of waves": (
        "ModalTrajectory", fp.Problem("u_tt = lap(u) - u_t", SQUARE, (0, 1), BUMP, "u = 0", initial_velocity=0)
    ),
    "coupled modes": (
        "ModalTrajectory",
        fp.Problem({"u": "-lap(v)", "v": "lap(u)"}, SQUARE, (0, 0.1), {"u": BUMP, "v": 0}, fp.Dirichlet(0)),
    ),
    "exponentials of axes": ("ScalingAndSquaring", fp.Problem("u_t = -u_x", SQUARE, (0, 0.3), BUMP, INFLOW)),
    "loads": ("LoadTrajectory", fp.Problem("u_t = lap(u) + u_xy - u**3", SQUARE, (0, 0.1), BUMP, "u = 0")),
    "loads of coupled fields": (
        "LoadTrajectory",
        fp.Problem(
            {"u": "-lap(v) - v**3", "v": "lap(u) + u**3"}, SQUARE, (0, 0.1), {"u": BUMP, "v": 0}, fp.Dirichlet(0)
        ),
    ),
    "steps": ("HermiteTrajectory", fp.Problem("u_t = 5*dx((1 + u**2)*u_x) + u_yy", SQUARE, (0, 0.1), BUMP, "u = 0")),
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")  # narrow ones are enough


@pytest.mark.parametrize("name", KINDS)
def test_solutions_come_back_as_they_were(name, tmp_path):
    kind, problem = KINDS[name]
    chosen = {"ScalingAndSquaring": {"width": 24}, "HermiteTrajectory": {"integrator": "cvode"}}.get(kind, {})
    solution = fp.solve(problem, settings=fp.Settings(**{"width": 12, "subspace": None, **chosen}))
    assert type(solution.pieces[0].trajectory).__name__ == kind
    solution.save(tmp_path / "solution.npz")
    others = [fp.load(tmp_path / "solution.npz"), pickle.loads(pickle.dumps(solution))]
    x, t = np.random.default_rng(0).uniform(0, 1, (20, 2)), np.linspace(*problem.time, 5)
    for field in problem.fields:
        expected = solution(*x.T[:, :, None], t, field=field)
        assert np.all(np.isfinite(expected))
        for other in others:
            np.testing.assert_allclose(
                other(*x.T[:, :, None], t, field=field), expected, rtol=0, atol=1e-12 * np.abs(expected).max()
            )

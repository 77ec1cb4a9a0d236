"""Four solutions side by side, the picture of the README: ``python docs/strip.py`` writes ``docs/solutions.png``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import frozenpinn as fp

CHAOS = fp.Problem(
    "u_t + u*u_x + u_xx + u_xxxx = 0", fp.Interval(0, 32 * np.pi, periodic=True), (0, 80), "cos(x/16)*(1 + sin(x/16))"
)
STIRRED = fp.Problem(
    *("u_t + y*u_x/(0.3 + x**2 + y**2) - x*u_y/(0.3 + x**2 + y**2) = 0.002*lap(u)", fp.Box([-1.6, -1.6], [1.6, 1.6])),
    *((0, 5), "exp(-40*((x - 0.7)**2 + y**2)) - exp(-40*((x + 0.7)**2 + y**2))", "u_n = 0"),
)
WALL = ["psi = 0", "psi_n = 0"]
CAVITY = fp.Problem(
    "nu*lap(lap(psi)) = dy(psi)*dx(lap(psi)) - dx(psi)*dy(lap(psi))",
    fp.Box([0, 0], [1, 1]),
    boundary={"left": WALL, "right": WALL, "bottom": WALL, "top": ["psi = 0", "psi_n = 16*x**2*(1 - x)**2"]},
    parameters={"nu": 0.005},
)
RIPPLES = fp.Problem(
    *("u_tt = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1.2), "exp(-400*((x - 0.3)**2 + (y - 0.4)**2))", "u_n = 0"),
    initial_velocity=0,
)


def on_square(solution: fp.Solution, *when: float) -> np.ndarray:
    """Return values of a solution on a fine grid over its box, at a time."""
    (left, bottom), (right, top) = solution.problem.domain.lower, solution.problem.domain.upper
    x, y = np.linspace(left, right, 300), np.linspace(bottom, top, 300)
    return np.asarray(solution(x, y[:, None], *when))


def main() -> None:
    """Solve the four problems and draw them."""
    problems = {CHAOS: 1e-3, STIRRED: 1e-3, CAVITY: 1e-4, RIPPLES: 1e-3}
    chaos, stirred, cavity, ripples = (fp.solve(problem, tol=tol) for problem, tol in problems.items())
    assert {solution.status for solution in (chaos, stirred, cavity, ripples)} == {"converged"}
    figure, axes = plt.subplots(1, 4, figsize=(16, 4.4), layout="constrained")
    x, t = np.linspace(0, 32 * np.pi, 300), np.linspace(0, 80, 300)
    axes[0].imshow(chaos(x, t[:, None]), cmap="RdBu_r", origin="lower", interpolation="bilinear")
    axes[1].imshow(on_square(stirred, 5.0), cmap="RdBu_r", vmin=-0.22, vmax=0.22, origin="lower")
    psi = on_square(cavity)
    axes[2].contourf(psi, 14, cmap="viridis")
    axes[2].contour(psi, 14, colors="white", linewidths=0.4, linestyles="solid")
    axes[2].set_aspect("equal")
    axes[3].imshow(on_square(ripples, 1.2), cmap="RdBu_r", vmin=-0.16, vmax=0.16, origin="lower")
    names = ("Kuramoto–Sivashinsky", "Two drops, stirred", "Flow in a driven cavity", "Ripples in a basin")
    for ax, name in zip(axes, names, strict=True):
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, fontsize=15)
    file = Path(__file__).with_name("solutions.png")
    figure.savefig(file, dpi=75)
    Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)


if __name__ == "__main__":
    main()

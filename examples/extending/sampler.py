"""A sampler of your own: waves sin(w x + b) with frequencies spread evenly, instead of random slopes.

    uₜₜ = uₓₓ,  u = 0 at both ends,  exact: u(x, t) = sin(3πx) cos(3πt) + sin(8πx) sin(8πt)/8

``"waves": Waves`` in the ``SAMPLERS`` of basis/samplers/__init__.py makes it ``Settings(sampler="waves")``.
"""

from dataclasses import dataclass

import numpy as np

import frozenpinn as fp
from frozenpinn.samplers import Cloud, HiddenLayer


@dataclass(frozen=True)
class Waves:
    """Directions at random, frequencies from one to ``width``/2 half waves across the points, phases at random.

    A dataclass with a ``width``, so that the search for a tolerance can make it wider.
    """

    width: int
    name: str = "waves"

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw the layer: same points and same generator, same neurons."""
        generator, dimension = np.random.default_rng(rng), points.x.shape[1]
        directions = generator.normal(size=(self.width, dimension))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        frequencies = np.pi * np.linspace(1, self.width / 2, self.width) / np.ptp(points.x, axis=0).max()
        centres = np.tile(points.x.mean(axis=0), (self.width, 1))
        phases = generator.uniform(0, 2 * np.pi, self.width)
        return HiddenLayer(frequencies[:, None] * directions, centres, phases, activation="sin")


def main() -> None:
    problem = fp.Problem(
        "u_tt = u_xx",
        fp.Interval(0, 1),
        (0, 1),
        initial="sin(3*pi*x)",
        initial_velocity="pi*sin(8*pi*x)",
        boundary="u = 0",
        exact="sin(3*pi*x)*cos(3*pi*t) + sin(8*pi*x)*sin(8*pi*t)/8",
    )
    solution = fp.estimate_error(fp.solve(problem, settings=fp.Settings(sampler=Waves(60))))
    error, estimate = solution.error()["rel_l2"], solution.error_estimate["u"]
    print(f"{solution.sampler}, {solution.system.size} coefficients: error {error:.1e}, estimated {estimate:.1e}")
    assert error < 1e-9
    assert error < 10 * estimate


if __name__ == "__main__":
    main()

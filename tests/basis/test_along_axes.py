"""Products of functions of one axis each, summed along axes: the same as all of them multiplied out."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.products import build_product_spaces
from frozenpinn.basis import along_axes
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.samplers import Sines

RNG = np.random.default_rng(0)


def network(dimension):
    box = fp.Box([0.0] * dimension, [1.0, 2.0, 0.5][:dimension])
    problem = fp.Problem("u_t = lap(u)", box, (0, 1), 0, "u = t")
    axes = [box.axis(i).sample(14, "spectral") for i in range(dimension)]
    layers = [Sines(4).sample(axis, i) for i, axis in enumerate(axes)]
    return build_product_spaces(problem, layers, box.sample([14] * dimension, "spectral"), 1e-6)[0].network


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("held", [10, 4_000_000])
def test_grids_and_scattered_points_agree_with_all_products(dimension, held, monkeypatch):
    monkeypatch.setattr(along_axes, "_BLOCK", held)
    own = network(dimension)
    zero = (0,) * dimension
    terms = [Term("u", Derivative(zero, 1), 0.5), Term("u", Derivative((1, 1, 1)[:dimension]), -2.0)]
    full = RNG.normal(size=(*(f.size + f.lift_size for f in own.factors), 3))
    axes = [np.linspace(f.points.x.min(), f.points.x.max(), n) for f, n in zip(own.factors, (9, 10, 11), strict=False)]
    x = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    flat = full.reshape(-1, 3)
    lifted = np.zeros(len(flat), dtype=bool)
    lifted[own._lifted.flat] = True
    expected = own.operator(x, terms) @ flat[~lifted] + own.lift_operator(x, terms) @ flat[lifted]
    scale = np.abs(expected).max()
    found = along_axes.at_scattered(own.factors, x, terms, full)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
    grid = along_axes.on_grid(own.factors, axes, terms, full)
    np.testing.assert_allclose(grid.reshape(-1, 3), expected, rtol=0, atol=1e-12 * scale)

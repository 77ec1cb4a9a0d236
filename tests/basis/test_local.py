"""Patches: the geometry is exact, patches are closed by their faces and walls, functions are what they seem."""

import numpy as np
import pytest

from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.basis.local.features import LocalFeatures, modes_of, order_of
from frozenpinn.basis.local.patches import PatchSet
from frozenpinn.basis.local.quadrature import curve_rule
from frozenpinn.basis.local.tree import Tree
from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Annulus, Box, Disk, Ellipsoid, Implicit, Polygon
from frozenpinn.geometry.points import gauss
from frozenpinn.geometry.rare.curves import Outline

SHAPES = {
    "box": (Box([0, 0], [2, 1]), 2.0),
    "disk": (Disk([1, 0], 0.5), np.pi / 4),
    "ellipse": (Ellipsoid([0, 1], [2, 1]), 2 * np.pi),
    "annulus": (Annulus(0.5, 1), 0.75 * np.pi),
    "triangular hole": (Polygon([[0, 0], [3, 0], [3, 1], [0, 1]], [[[1, 0.3], [1.5, 0.3], [1.2, 0.6]]]), 2.925),
    "bitten box": (Box([0, 0], [1, 1]) - Disk([0, 0], 0.5), 1 - np.pi / 16),
    "L": (Box([0, 0], [1, 1]) - Box([0.5, 0.5], [1, 1]), 0.75),
    "three quarters": (Disk() - Box([0, 0], [2, 2]), 0.75 * np.pi),
    "lens": (Disk([0, 0], 1) & Disk([1, 0], 1), 2 * np.pi / 3 - np.sqrt(3) / 2),
    "parted": (Disk().with_sides(hot="y > 0.5"), np.pi),
    "named": ((Box([0, 0], [1, 1]) | Disk([1, 0.5], 0.4)).named("ear"), 1 + 0.08 * np.pi),
}


def divided(domain, across=5, levels=5):
    tree = Tree.of(domain, across).refined_while(lambda leaves: [leaf.angle > 1.7 for leaf in leaves], levels)
    return PatchSet.of(tree, 12)


@pytest.mark.parametrize("name", SHAPES)
def test_patches_fill_a_domain_and_are_closed(name):
    domain, area = SHAPES[name]
    patches = divided(domain)
    assert sum(patch.area for patch in patches.patches) == pytest.approx(area, rel=1e-12)
    s, w = gauss(20)
    for patch in patches.patches:
        assert np.all(patch.rule.weights > 0)
        assert np.all(domain.contains(patch.rule.x))
        around, flow = np.zeros(2), 0.0  # ∮ n = 0 and ∮ x·n = twice the area
        for number, sign in patch.faces:
            face = patches.faces[number]
            around[face.axis] += sign * face.length
            flow += sign * face.length * (w @ face.at(s)[:, face.axis])
        for wall in patch.walls:
            x, normals, weights = curve_rule(wall, 12)
            around += normals.T @ weights
            flow += weights @ np.sum(x * normals, axis=1)
        assert np.max(np.abs(around)) < 1e-11
        assert flow == pytest.approx(2 * patch.area, abs=1e-11)


@pytest.mark.parametrize("name", ["L", "parted", "named", "triangular hole"])
def test_outlines_know_the_sides(name):
    domain, area = SHAPES[name]
    outline = Outline(domain.outline())
    assert outline.area == pytest.approx(area, rel=1e-12)
    assert {curve.side for curve in outline.curves} == {side.name for side in domain.sides}


def test_small_cuts_are_merged():
    patches = divided(Disk([0.013, 0.007], 1.0), across=16, levels=0)
    shares = [patch.area / np.prod(patch.upper - patch.lower) for patch in patches.patches]
    assert len(patches) < len(patches.tree.leaves)
    assert min(shares) > 0.3


def test_hanging_faces_have_a_patch_on_both_sides_once():
    domain = Box([0, 0], [1, 1])
    tree = Tree.of(domain, 2)
    tree = tree.refined([next(iter(tree.leaves))])
    patches = PatchSet.of(tree, 6)
    assert len(patches) == 7
    lengths = sorted(face.length for face in patches.faces)
    assert lengths == pytest.approx([0.25] * 8 + [0.5] * 2)


def test_quartering_keeps_neighbours_within_a_factor_of_two():
    tree = Tree.of(Box([0, 0], [1, 1]), 2)
    for _ in range(5):
        corner = min(tree.leaves, key=lambda cell: (-cell.level, cell.i, cell.j))
        tree = tree.refined([corner])
    patches = PatchSet.of(tree, 4)
    width = [float(patch.half[0]) for patch in patches.patches]
    assert max(width) / min(width) > 16
    assert all(0.4 < width[f.below] / width[f.above] < 2.5 for f in patches.faces)


def test_domains_without_an_outline_are_refused():
    with pytest.raises(ProblemError, match=r"patches need a plane domain whose boundary is made of segments and arcs"):
        Tree.of(Implicit("x**4 + y**4 - 1", [-1, -1], [1, 1]), 4)
    with pytest.raises(ProblemError, match=r"boxes without periodic axes"):
        Tree.of(Box([0, 0], [1, 1], periodic=True), 4)


def test_features_are_orthonormal_and_span_polynomials_of_their_order():
    features = LocalFeatures.draw(modes_of(8), 0)
    s, w = gauss(24)
    x = np.stack([np.repeat(2 * s - 1, 24), np.tile(2 * s - 1, 24)], axis=1)
    weights = 4 * np.outer(w, w).ravel()
    values, slopes = features.values(x, ((0, 0), (1, 0)))
    assert np.allclose(values.T @ (values * weights[:, None]), np.eye(features.size), atol=1e-12)
    for power, limit in ((3, 1e-4), (6, 1e-2)):
        wanted = x[:, 0] ** power * x[:, 1]
        mixing = values.T @ (weights * wanted)
        assert np.max(np.abs(values @ mixing - wanted)) < limit
        assert np.max(np.abs(slopes @ mixing - power * x[:, 0] ** (power - 1) * x[:, 1])) < 30 * limit
    assert [order_of(modes_of(n)) for n in range(3, 15)] == list(range(3, 15))


def test_other_seeds_give_other_features_and_the_same_seed_the_same():
    one, same, other = (LocalFeatures.draw(28, seed).table for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_values_and_derivatives_of_the_basis_agree():
    rng = np.random.default_rng(0)
    domain = SHAPES["bitten box"][0]
    basis = PatchBasis.of(divided(domain), LocalFeatures.draw(28, 0), ["u", "v"])
    x = domain.sample(50, "random", 1).x
    c = rng.normal(size=basis.size)
    terms = [Term("v", Derivative((1, 0)), x[:, 0]), Term("u", Derivative((0, 0), 1), 2.0)]
    assert np.allclose(basis.operator(x, terms) @ c, basis.combine(x, terms, c[:, None])[:, 0])
    step = np.array([1e-6, 0])
    ahead, behind = (basis.combine(x + k * step, [Term("v", Derivative((0, 0)))], c[:, None])[:, 0] for k in (1, -1))
    same = basis.owners(x + step) == basis.owners(x - step)
    slope = basis.combine(x, [Term("v", Derivative((1, 0)))], c[:, None])[:, 0]
    assert np.allclose(((ahead - behind) / 2e-6)[same], slope[same], rtol=1e-5, atol=1e-4 * np.max(np.abs(slope)))


def test_a_hole_that_touches_the_line_between_two_cells_is_not_lost():
    domain = Disk([0.5, 0.5], 0.72) - Disk([0.55, 0.4], 0.05).named("hole")  # whose leftmost point lies on such a line
    tree = Tree.of(domain, 8).refined_while(lambda leaves: [leaf.angle > 1.7 for leaf in leaves], 5)
    walls = [wall for patch in PatchSet.of(tree, 8).patches for wall in patch.walls if wall.side == "hole"]
    assert sum(wall.angle for wall in walls) == pytest.approx(2 * np.pi)
    assert sum(patch.area for patch in PatchSet.of(tree, 8).patches) == pytest.approx(Outline(domain.outline()).area)

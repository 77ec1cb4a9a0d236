"""The paper's formulas taken literally: SVD layer, rows without weights, supervised pairs, uniform ELM, outer lists."""

import numpy as np
import pytest

import frozenpinn as fp

ROD = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
SVDLayer = fp.stages.SVDLayer
EIGENVALUE = {"lam": fp.Eigenvalue()}
DRUM = fp.Problem("-lap(u) = lam*u", fp.Disk(), boundary="u = 0", parameters=EIGENVALUE)


def error(settings, **others):
    solution = fp.solve(ROD, settings=fp.Settings(width=40, **others) if settings is None else settings)
    x = np.linspace(0, 1, 50)
    return float(np.max(np.abs(solution(x, 0.1) - np.exp(-(np.pi**2) * 0.1) * np.sin(np.pi * x))))


def test_unscaled_functions_are_orthogonal_and_as_large_as_their_singular_values():
    points = ROD.domain.sample(120)
    network = fp.stages.Network(fp.samplers.MultiScale(40).sample(points, rng=0), points)
    usual, literal = network.compress(1e-10), network.compress(SVDLayer(1e-10, orthonormal=False))
    values = np.sqrt(points.weights)[:, None] * literal.point_values("u")
    sizes = np.linalg.norm(values, axis=0)
    assert literal.size == usual.size
    np.testing.assert_allclose(sizes, usual.singular_values, rtol=1e-5)
    large = sizes > 1e-6 * sizes[0]
    cosines = (values[:, large] / sizes[large]).T @ (values[:, large] / sizes[large])
    np.testing.assert_allclose(cosines, np.eye(int(large.sum())), atol=1e-8)


@pytest.mark.parametrize("layer", [SVDLayer(1e-10), SVDLayer(1e-10, orthonormal=False), SVDLayer(rank=16)])
def test_layers_in_detail_solve(layer):
    assert error(None, cutoff=layer) < 1e-5


def test_a_cutoff_is_a_layer():
    x = np.linspace(0, 1, 9)
    one, other = (fp.solve(ROD, settings=fp.Settings(width=40, cutoff=c))(x, 0.1) for c in (1e-10, SVDLayer(1e-10)))
    np.testing.assert_array_equal(one, other)


def test_the_rank_that_is_asked_for():
    solution = fp.solve(ROD, settings=fp.Settings(width=40, cutoff=SVDLayer(rank=9)))
    assert solution.pieces[0].expansions[0].basis.size == 9


def test_points_that_count_alike():
    points = ROD.domain.sample(50).equally_weighted()
    assert np.ptp(points.weights) == 0.0
    assert points.weights.sum() == pytest.approx(1.0)
    assert error(None, quadrature=False, points=200) < 1e-6


def test_symmetry_that_is_not_there_is_left_alone():
    """Rows that count alike have none; only what is symmetric up to round-off is made so exactly."""
    points = ROD.domain.sample(80)
    hidden = fp.samplers.MultiScale(30).sample(points, rng=0)
    spaces = [fp.stages.build_space(ROD, hidden, p) for p in (points, points.equally_weighted())]
    systems = [fp.stages.discretise(ROD, space) for space in spaces]
    assert [system.linear.structure for system in systems] == ["symmetric", "general"]
    np.testing.assert_array_equal(systems[1].linear.position.dense(), systems[1].projected.position.dense())


@pytest.mark.parametrize("cutoff", ["auto", 1e-8])
def test_points_of_static_problems_may_count_alike(cutoff):
    dome = fp.Problem("lap(u) = -4", fp.Disk(), boundary="u = 0")
    usual, alike = (
        fp.solve(dome, settings=fp.Settings(width=100, quadrature=q, cutoff=cutoff))(0.3, 0.4) for q in (True, False)
    )
    assert usual == pytest.approx(0.75, abs=1e-6)
    assert alike == pytest.approx(0.75, abs=1e-6)
    assert usual != alike


def test_uniform_weights_and_a_frame_of_the_points():
    points = fp.Interval(0, 8 * np.pi).sample(100)
    hidden = fp.samplers.ELM(500, eta=2, scale=3, weights="uniform").sample(points, rng=0)
    assert 2.9 < np.abs(hidden.weights).max() <= 3
    unit = fp.samplers.ELM(500, eta=2, scale=3, weights="uniform", unit=True).sample(points, rng=0)
    middle, half = 4 * np.pi, np.ptp(points.x) / 2
    x = np.array([[middle + 0.3 * half]])
    np.testing.assert_allclose(unit.features(x)[:, :-1], np.tanh(0.3 * hidden.weights.T + hidden.biases), atol=1e-12)


def test_pairs_follow_the_functions_that_supervise_them():
    points = fp.Interval(0, 1).sample(400, "uniform")

    def front(x):
        return np.tanh(50 * (x[:, 0] - 0.7))

    def share(**options):
        hidden = fp.samplers.SWIM(300, candidates=10, **options).sample(points, rng=0)
        return np.mean(np.abs(-hidden.biases / hidden.weights[:, 0] - 0.7) < 0.1)

    assert share(functions=[front]) > 2.5 * share()


def test_outer_functions_may_contradict_the_conditions_by_request():
    def cosine(x):
        return np.cos(np.pi * x)

    outer = fp.boundary.OuterBasis([cosine, np.sin])
    with pytest.raises(fp.SettingsError, match=r"do not satisfy 'u = 0' on side 'left'.*contradictions=True"):
        fp.solve(ROD, settings=fp.Settings(boundary=outer, width=40))
    allowed = fp.boundary.OuterBasis([cosine, np.sin], contradictions=True)
    with pytest.warns(fp.FrozenPinnWarning, match="represents the initial value of u only to"):
        solution = fp.solve(ROD, settings=fp.Settings(boundary=allowed, width=40))
    assert abs(solution(0.0, 0.0)) > 0.01


def outer(functions, **options):
    return fp.solve(ROD, settings=fp.Settings(boundary=fp.boundary.OuterBasis(functions, **options), width=40))


def pairs(function):
    return fp.samplers.SWIM(20, functions=[function]).sample(ROD.domain.sample(30), 0)


REFUSED = [
    (lambda: SVDLayer(rank=0), "the rank of the SVD layer is a positive whole number, got 0"),
    (lambda: SVDLayer(cutoff=2.0), "the SVD cut-off must lie between 0 and 1, got 2.0"),
    (lambda: error(None, cutoff=SVDLayer(rank=60)), "have rank 60: 39 functions obey the conditions"),
    (lambda: fp.samplers.SWIM(20, candidates=0), "at least one; got 0"),
    (lambda: fp.samplers.ELM(20, weights="normal"), "the weights of an ELM are 'gaussian' or 'uniform', got 'normal'"),
    (lambda: fp.Settings(quadrature=1), "quadrature is True or False, got 1"),
    (lambda: fp.Settings(width=(10, 10), quadrature=False), "which can't have quadrature=False; write one number"),
    (lambda: fp.Settings(width=(10, 10), cutoff=SVDLayer()), "which can't have an SVDLayer; write one number"),
    (lambda: fp.modes(DRUM, 2, settings=fp.Settings(quadrature=False)), "is not for eigenvalues"),
    (lambda: fp.modes(DRUM, 2, settings=fp.Settings(cutoff=SVDLayer(1e-9))), "not for eigenvalues.*cutoff=1e-09"),
    (lambda: SVDLayer(orthonormal="no"), "orthonormal is True or False, got 'no'"),
    (lambda: fp.samplers.ELM(20, unit=3), "unit is True or False, got 3"),
    (lambda: fp.samplers.SWIM(20, supervised="u"), "supervised is True or False, got 'u'"),
    (lambda: fp.samplers.SWIM(20, pool=1), "pool is how many points pairs are drawn from, at least two; got 1"),
    (lambda: fp.boundary.AugmentedODE(kappa=-1.0), "kappa is a finite number and must not be negative, got -1.0"),
    (lambda: fp.boundary.AugmentedODE(kappa=np.inf), "kappa is a finite number and must not be negative, got inf"),
    (lambda: error(fp.Settings(boundary=fp.boundary.OuterBasis([np.sin, np.zeros_like]), width=40)),
     "outer function 2 of 2 vanishes at all points; leave it out"),
    (lambda: error(fp.Settings(boundary=fp.boundary.OuterBasis([lambda x: np.sin(900 * x)]), width=8)),
     r"the hidden layer can't represent outer function 1 of 1: the fit is \d+ % off"),
    (lambda: outer("sine", count=200), r"can't represent outer function \d+ of 200: .* fewer functions"),
    (lambda: outer("sine", count=2.5), "an outer basis needs at least one function, got count=2.5"),
    (lambda: outer("sine", rcond=-1), "rcond of an outer basis must lie between 0 and 1, got -1"),
    (lambda: outer("sine", contradictions="yes"), "contradictions is True or False, got 'yes'"),
    (lambda: outer(np.sin), r"outer functions are a list of functions, such as \[np.sin\]; got <ufunc 'sin'>"),
    (lambda: outer([np.sin, 3]), "outer function 2 of 2 is a function of points such as np.sin; got 3"),
    (lambda: outer([lambda x: np.nan * x]), "outer function 1 of 1 has values that are not finite"),
    (lambda: outer([lambda x: np.ones(7)]), r"outer function 1 of 1 returns one number for each of 80 points.*\(7,\)"),
    (lambda: outer([lambda x: "one"]), "outer function 1 of 1 returns one number for each point, got 'one'"),
    (lambda: pairs(lambda x: 0 * x[:, 0]), "supervising function 1 of 1 vanishes at all points; leave it out"),
    (lambda: pairs(lambda x: np.inf * x), "supervising function 1 of 1 has values that are not finite"),
    (lambda: pairs(lambda x: np.ones(7)), r"supervising function 1 of 1 returns one number for each of 30 points"),
    (lambda: fp.samplers.SWIM(20, functions=[3]), "supervising function 1 of 1 is a function of points .* got 3"),
    (lambda: fp.samplers.SWIM(20, values=np.ones(30), functions=[np.sin]), "values or functions .*, not both"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refused(call, message):
    with pytest.raises(fp.SettingsError, match=message):
        call()

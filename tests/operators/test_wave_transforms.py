"""Maps of waves by fast transforms, and matrices that couple pairs."""

import numpy as np
import pytest

from frozenpinn.operators import Identity, by_transforms, kronecker
from frozenpinn.operators.eigen import detect, eigensystem
from frozenpinn.operators.waves import Waves

N, PAIRS = 210, 60


def lattice(phase: float = 0.3) -> np.ndarray:
    """Return a constant and pairs of waves at equispaced points, orthonormal up to a factor."""
    x = 2 * np.pi * np.arange(N) / N
    columns = [np.full(N, np.sqrt(0.5))]
    columns += [np.sin(k * x + phase * k + s) for k in range(1, PAIRS + 1) for s in (0.0, np.pi / 2)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("outward", [True, False])
@pytest.mark.parametrize("factor", [1.0, 1.0 + 0.5j])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_transforms_are_the_matrix(outward, factor, shape):
    matrix = factor * (lattice() if outward else lattice().T)
    fast = by_transforms(kronecker(matrix), outward)
    assert isinstance(fast, Waves)
    rng = np.random.default_rng(0)
    for vector in (rng.normal(size=(matrix.shape[1], *shape)), rng.normal(size=(matrix.shape[1], *shape)) * 1j):
        found = fast @ vector
        assert np.iscomplexobj(found) == np.iscomplexobj(matrix @ vector)
        np.testing.assert_allclose(found, matrix @ vector, atol=1e-12 * N)
    np.testing.assert_array_equal(fast.T.dense(), matrix.T)


def test_other_matrices_stay_as_they_are():
    rough = np.random.default_rng(0).normal(size=(N, 2 * PAIRS))
    for operator in (kronecker(rough), kronecker(lattice()[:, :20]), kronecker(lattice(), Identity(2))):
        assert by_transforms(operator, outward=True) is operator


@pytest.mark.parametrize("symmetric", [True, False])
def test_pairs_are_diagonalised_one_by_one(symmetric):
    size, rng = 121, np.random.default_rng(1)
    matrix = np.diag(-rng.uniform(1, 1e4, size))
    for i, j in rng.permutation(size)[:120].reshape(60, 2):
        matrix[i, j] = rng.normal()
        matrix[j, i] = matrix[i, j] if symmetric else -matrix[i, j]
        if not symmetric:
            matrix[j, j] = matrix[i, i]
    matrix += 1e-17 * rng.normal(size=matrix.shape) if not symmetric else 0.0
    found = eigensystem(matrix, detect(matrix))
    assert np.iscomplexobj(found.eigenvalues) != symmetric
    assert np.count_nonzero(found.vectors) <= 2 * size
    np.testing.assert_allclose(found.vectors * found.eigenvalues @ found.left, matrix, atol=1e-9)
    np.testing.assert_allclose(found.left @ found.vectors, np.eye(size), atol=1e-12)

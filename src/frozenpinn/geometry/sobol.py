"""Sobol's sequence, scrambled: the points of SciPy's engine, without the half second that importing it takes.

Direction numbers are those of Joe and Kuo (2008); the scrambling is a random lower triangular matrix of bits for each
coordinate and a random shift (Matoušek 1998), drawn as SciPy draws them.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
_BITS = 30
#: Degree, inner coefficients of the primitive polynomial and first direction numbers of the second coordinate, third, …
_KNOWN = (
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
)
_DOWN = np.arange(_BITS - 1, -1, -1, dtype=np.uint32)  # of the bits of a number, from the largest to the smallest


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """Return the first n points in [0, 1)^d, shape (n, d).

    >>> sobol(4, 2, np.random.default_rng(0)).shape
    (4, 2)
    """
    if d > len(_KNOWN) + 1 or n > 2**_BITS:
        from scipy.stats import qmc  # slow to import

        return np.asarray(qmc.Sobol(d, scramble=True, rng=rng).random_base2(int(np.ceil(np.log2(n))))[:n])
    own = rng.spawn(1)[0]
    shift = own.integers(2, size=(d, _BITS), dtype=np.uint32) @ (2 ** np.arange(_BITS, dtype=np.uint32))
    lower = np.tril(own.integers(2, size=(d, _BITS, _BITS), dtype=np.uint32), -1) + np.eye(_BITS, dtype=np.uint32)
    bits = (_directions(d)[:, :, None] >> _DOWN) & 1
    mixed = np.einsum("dpk,djk->djp", lower, bits) & 1
    scrambled = np.asarray(np.sum(mixed << _DOWN, axis=2, dtype=np.uint32))
    numbers = np.arange(n, dtype=np.uint32)
    gray = numbers ^ (numbers >> 1)
    out = np.tile(shift.astype(np.uint32), (n, 1))
    for bit in range(int(n - 1).bit_length()):
        chosen = np.flatnonzero((gray >> bit) & 1)
        out[chosen] ^= scrambled[:, bit]
    return np.asarray(out * 2.0**-_BITS)


def _directions(d: int) -> Array:
    """Return the direction numbers of each coordinate, shape (d, bits)."""
    table = np.ones((d, _BITS), dtype=np.uint32)
    for row, (degree, inner, first) in zip(table[1:], _KNOWN, strict=False):
        values = [*first]
        for j in range(degree, _BITS):
            new = values[j - degree] ^ (values[j - degree] << degree)
            for k in range(1, degree):
                if (inner >> (degree - 1 - k)) & 1:
                    new ^= values[j - k] << k
            values.append(new)
        row[:] = values
    return table << _DOWN

"""Eigenvalues beside known ones: errors, what the program estimates of them, and seconds.

    −Δu = λu on a square, a disk and an L,  uₓₓₓₓ = λu on a beam,  −uₓₓ + x²u = λu on a long interval

The unknown number is a parameter. Errors are estimated by networks that are drawn independently.
"""

import time

import numpy as np
from scipy.special import jn_zeros

import frozenpinn as fp

SQUARES = (np.pi * np.arange(1, 12)) ** 2
DRUM = np.sort(np.add.outer(SQUARES, SQUARES), axis=None)[:10]
BESSEL = np.sort(np.concatenate([np.repeat(jn_zeros(m, 5), 1 + (m > 0)) for m in range(7)]))[:10] ** 2
BEAM = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467]) ** 4
L_VALUES = np.array([9.639723844021941, 15.19725192645434, 2 * np.pi**2])
L_SHAPE = fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
CLAMPED_LEFT = {"left": ["u = 0", "u_x = 0"], "right": ["u_xx = 0", "u_xxx = 0"]}
CASES = {
    "square drum": ("-lap(u) = lam*u", fp.Box([0, 0], [1, 1]), "u = 0", DRUM),
    "cantilever": ("u_xxxx = lam*u", fp.Interval(0, 1), CLAMPED_LEFT, BEAM),
    "oscillator": ("-u_xx + x**2*u = lam*u", fp.Interval(-8, 8), "u = 0", 2.0 * np.arange(12) + 1),
    "disk": ("-lap(u) = lam*u", fp.Disk((0, 0), 1), "u = 0", BESSEL),
    "L-shape": ("-lap(u) = lam*u", L_SHAPE, "u = 0", L_VALUES),
}


def main() -> None:
    for name, (equation, domain, boundary, exact) in CASES.items():
        started = time.perf_counter()
        problem = fp.Problem(equation, domain, boundary=boundary, parameters={"lam": fp.Eigenvalue()})
        found = fp.modes(problem, len(exact))
        seconds = time.perf_counter() - started
        error, estimate = np.max(np.abs(found.values / exact - 1)), np.max(found.errors / exact)
        print(f"| {name}, {len(exact)} eigenvalues | {error:.0e} | {estimate:.0e} | {seconds:.2f} s |")
        assert error < 1e-9, error


if __name__ == "__main__":
    main()

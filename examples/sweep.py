"""Many solves at once: a sweep over the diffusivity, what it tells, and files for other programs.

    uₜ = k uₓₓ,  x ∈ [0, 1],  u(x, 0) = sin πx,  u = 0 at both ends,  so u = exp(−kπ²t) sin πx

The table of all runs is an xarray dataset. With ``out="runs.zarr"`` it is stored as it grows, and the same call goes on
after any interruption; ``workers=2`` makes it in two processes.
"""

import tempfile
from pathlib import Path

import numpy as np

import frozenpinn as fp


def main() -> None:
    problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    runs = fp.sweep(problem, {"k": np.linspace(0.1, 0.4, 7)}, tol=1e-5, points=21, times=[0, 1])
    print(runs)
    exact = np.exp(-(np.pi**2) * runs.k * runs.t) * np.sin(np.pi * runs.x)
    error = float(abs(runs.u - exact.transpose("run", "x", "t")).max())
    print(f"largest error {error:.1e}, largest estimate {float(runs.u_error_estimate.max()):.1e}")
    assert error < 1e-5

    between = fp.sweeps.surrogate(runs)
    middle = float(between(k=0.22).u.sel(x=0.5, t=1))
    print(f"at k = 0.22, u(0.5, 1) is {middle:.5f}, and {np.exp(-0.22 * np.pi**2):.5f} exactly")
    assert abs(middle - np.exp(-0.22 * np.pi**2)) < 1e-3

    solution = fp.solve(problem, tol=1e-6)
    with tempfile.TemporaryDirectory() as folder:
        solution.to_netcdf(Path(folder) / "u.nc")
        solution.to_vtk(Path(folder) / "u.pvd", times=5)
        solution.to_csv(Path(folder) / "u.csv", x=[0.25, 0.5, 0.75], t=[0, 0.5, 1])
        print(*sorted(path.name for path in Path(folder).iterdir()))
    heat = solution.integral("u", t=[0, 1])
    print(f"mass {float(heat[0]):.6f} at the start, {float(heat[1]):.6f} at the end")
    assert abs(float(heat[0]) - 2 / np.pi) < 1e-6


if __name__ == "__main__":
    main()

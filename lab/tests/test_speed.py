"""Speed and size, always as a ratio within one run: absolute seconds of a machine say nothing."""

import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
import scipy.linalg as sla
from threadpoolctl import threadpool_limits

import frozenpinn as fp
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn_lab.cases import find_case

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def best_of(function, repetitions=30):
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def import_seconds(modules):
    runs = [
        subprocess.run([sys.executable, "-c", IMPORT.format(modules)], capture_output=True, text=True, check=True)
        for _ in range(4)
    ]
    return min(float(run.stdout) for run in runs)


@pytest.mark.timing
def test_import_is_light():
    assert import_seconds("frozenpinn") < 3 * import_seconds("numpy, scipy.linalg, sympy")


def test_heavy_modules_load_lazily():
    heavy = ("matplotlib", "xarray", "typer", "rich", "scipy.stats")
    code = f"import sys, frozenpinn; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.timing
def test_advection_costs_at_most_three_svd_and_expm():
    """A solve to 1e-10 in at most 3× one SVD of its features plus one exponential of its operator."""
    case = find_case("advection")
    problem, options = case.problem(), case.options("best", "high", case.variants[0])
    solution = fp.solve(problem, **options)
    assert solution.error()["rel_l2"] < 1e-10
    network, matrix = solution.system.spaces[0].network, solution.system.linear.matrix
    features = network.hidden.operator(network.points.x, [Term("u", Derivative((0,)))])
    with threadpool_limits(1):
        yardstick = best_of(lambda: sla.svd(features, full_matrices=False)) + best_of(lambda: sla.expm(matrix))
    assert best_of(lambda: fp.solve(problem, **options)) < 3 * yardstick


def test_assembly_holds_at_most_four_feature_matrices():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    width, points = 600, 4000
    fp.solve(problem, settings=fp.Settings(width=20, points=40))  # imports and caches
    problem.domain.sample(points)
    tracemalloc.start()
    fp.solve(problem, settings=fp.Settings(width=width, points=points))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * np.zeros((points, width + 1)).nbytes

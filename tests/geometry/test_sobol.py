"""Sobol's sequence: the points of SciPy's engine."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

from frozenpinn.geometry.points import sobol


@pytest.mark.parametrize("n", [1, 2, 33, 512])
@pytest.mark.parametrize("d", [1, 2, 3, 10, 11])
def test_points_are_those_of_scipy(n, d):
    engine = qmc.Sobol(d, scramble=True, rng=np.random.default_rng(5))
    wanted = engine.random_base2(int(np.ceil(np.log2(n))))[:n]
    assert np.array_equal(sobol(n, d, np.random.default_rng(5)), wanted)


def test_points_of_a_solid_do_not_import_statistics():
    sample = "fp.Ball([0, 0, 0], 1).sample(100, 'sobol', 0)"
    code = f"import sys, frozenpinn as fp; {sample}; print('scipy.stats' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"

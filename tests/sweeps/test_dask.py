"""Sweeps on a Dask cluster: the same bits, and clear words if it goes away."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.sweeps import runs

distributed = pytest.importorskip("distributed")
HEAT = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
GIVEN = {"points": 5, "times": [0.0, 0.5], "settings": fp.Settings(width=12)}
KS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own threads and sockets


def test_a_cluster_gives_the_same_bits_and_going_away_is_told(tmp_path, monkeypatch):
    quiet = {"dashboard_address": None, "silence_logs": 50}
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, **quiet)
    with cluster, distributed.Client(cluster) as client:
        found = fp.sweep(HEAT, {"k": KS[:3]}, **GIVEN, client=client)
        np.testing.assert_array_equal(found.u, fp.sweep(HEAT, {"k": KS[:3]}, **GIVEN).u)
        made = []

        def vanishing(definition, plan, index):
            made.append(index)
            if len(made) > 2:
                client.loop.add_callback(client._close, fast=True)
            return runs.run(definition, plan, index)

        monkeypatch.setattr("frozenpinn.sweeps.executors.run", vanishing)
        text = r"the cluster went away .* of 8 runs are finished and stay with '.*r\.zarr'; the same call goes on"
        with pytest.raises(fp.sweeps.SweepError, match=text):
            fp.sweep(HEAT, {"k": KS}, **GIVEN, client=client, out=tmp_path / "r.zarr")
    monkeypatch.undo()
    whole = fp.sweep(HEAT, {"k": KS}, **GIVEN, out=tmp_path / "r.zarr")
    np.testing.assert_array_equal(whole.u, fp.sweep(HEAT, {"k": KS}, **GIVEN).u)

"""Tables in files."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imsave

import frozenpinn as fp

X, Y = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 2.0, 11)
GRID = np.exp(X)[:, None] * Y[None, :]


def write_csv(path, rows, header="x,y,k"):
    path.write_text(header + "\n" + "\n".join(",".join(map(repr, map(float, row))) for row in rows))


def test_csv_on_a_grid_in_any_order(tmp_path):
    rows = [(x, y, GRID[i, j]) for i, x in enumerate(X) for j, y in enumerate(Y)]
    rows = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    write_csv(tmp_path / "k.csv", rows)
    table = fp.read_table(tmp_path / "k.csv")
    assert not table.is_scattered
    assert np.array_equal(table.values, GRID)
    write_csv(tmp_path / "k.csv", rows[:-1])
    assert fp.read_table(tmp_path / "k.csv").is_scattered


def test_csv_with_several_columns(tmp_path):
    write_csv(tmp_path / "k.csv", [(x, 2 * x, 3 * x) for x in X[::-1]], "x,a,b")
    assert np.allclose(fp.read_table(tmp_path / "k.csv", "b")(0.3), 0.9)
    with pytest.raises(fp.ProblemError, match="several columns of values; say column= one of 'a', 'b'"):
        fp.read_table(tmp_path / "k.csv")
    with pytest.raises(fp.ProblemError, match="there is no column 'c'"):
        fp.read_table(tmp_path / "k.csv", "c")
    write_csv(tmp_path / "k.csv", [(1.0, 2.0)], "a,b")
    with pytest.raises(fp.ProblemError, match="needs a header with coordinates"):
        fp.read_table(tmp_path / "k.csv")


def test_netcdf_and_numpy(tmp_path):
    array = xr.DataArray(GRID, dims=("x", "y"), coords={"x": X, "y": Y}, name="k")
    array.to_netcdf(tmp_path / "k.nc")
    assert np.array_equal(fp.read_table(tmp_path / "k.nc").values, GRID)
    np.save(tmp_path / "k.npy", GRID)
    assert np.isclose(fp.read_table(tmp_path / "k.npy", x=(0, 1), y=(0, 2))(0.5, 1.0), np.exp(0.5), atol=1e-6)


def test_images_stand_upright(tmp_path):
    pixels = np.tile(np.linspace(1.0, 0.0, 16)[:, None], (1, 24))  # bright above
    imsave(tmp_path / "k.png", pixels, cmap="gray", vmin=0, vmax=1)
    table = fp.read_table(tmp_path / "k.png", x=(0, 3), y=(0, 2))
    assert table.values.shape == (24, 16)
    assert float(table(1.0, 1.9)) > 0.9
    assert float(table(1.0, 0.1)) < 0.1
    assert np.isclose(table.coordinates["x"][0], 3 / 48)


@pytest.mark.parametrize(
    ("name", "contents", "text"),
    [
        ("k.txt", b"1", r"must end in \.csv, \.nc, \.npy or that of an image"),
        ("k.png", b"1", "can't be read as an image"),
        ("k.nc", b"1", "can't be read as NetCDF"),
        ("k.npy", b"1", "is no NumPy array"),
        ("k.csv", b"x,k\n1,a", "line 2 of .* holds something that is no number"),
    ],
)
def test_bad_files(tmp_path, name, contents, text):
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(fp.ProblemError, match=text):
        fp.read_table(tmp_path / name)


def test_missing_file(tmp_path):
    with pytest.raises(fp.ProblemError, match="there is no file"):
        fp.read_table(tmp_path / "none.csv")

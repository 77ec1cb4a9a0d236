"""The wheel: it can be built, and holds all that the package needs."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import frozenpinn as fp

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = folder.glob("*.whl")
    return file


def test_the_wheel_holds_the_package_and_its_types(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert fp.__version__ in wheel.name
    assert "frozenpinn/py.typed" in names
    for file in (ROOT / "src").rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert file.relative_to(ROOT / "src").as_posix() in names


def test_every_extra_is_documented():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for extra in project["optional-dependencies"]:
        assert f"`{extra}`" in text, extra
    for version in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_the_command_line_starts_without_extras():
    """None of the optional packages is imported before it is needed."""
    optional = ("shapely", "meshio", "zarr", "netCDF4", "distributed", "pyvista", "jax", "skfem", "gmsh", "pde")
    code = f"""
import sys
for name in {optional}:
    sys.modules[name] = None
from frozenpinn import cli
sys.argv = ["frozenpinn", "--version"]
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"frozenpinn {fp.__version__}", done.stderr


def test_commands_for_missing_extras_work_in_a_clone():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py")}
    named = {extra for text in texts.values() for extra in re.findall(r'ExtraError\.of\(.*?"(\w+)"\s*\)', text, re.S)}
    assert named == set(project["optional-dependencies"]) - {"dev", "docs"}
    words = str(fp.errors.MissingExtraError.of("this needs", "some", "3d"))
    assert words == "this needs the package some; in a clone of frozenpinn, write: pip install '.[3d]'"
    for file in [*texts, *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        assert "pip install 'frozenpinn" not in file.read_text(encoding="utf-8"), f"{file}: the package is on no index"

"""Problems as TOML files and as pictures."""

import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

import frozenpinn as fp
from frozenpinn.cli import app
from frozenpinn.statement.document import problem_to_dict
from frozenpinn.statement.files import toml_text
from frozenpinn_lab.calibration.collection import collection, static_collection

LINE = fp.Interval(0, 1)


def rod(**more):
    given = {"initial": "sin(pi*x)", "boundary": "u = 0", "parameters": {"k": 0.1}}
    return fp.Problem("u_t = k*u_xx", LINE, (0, 1), **{**given, **more})


def test_a_problem_that_is_written_and_read_is_the_same(tmp_path):
    """All of the collections that are text; the others are refused with the reason."""
    refused = 0
    for entry in [*collection().values(), *static_collection().values()][::4]:
        problem, file, again = entry.build(), tmp_path / "a.toml", tmp_path / "b.toml"
        if problem_to_dict(problem, {}) is None:
            with pytest.raises(fp.StorageError, match="is a Python object"):
                problem.save(file, overwrite=True)
            refused += 1
            continue
        problem.save(file, overwrite=True)
        fp.read_problem(file).save(again, overwrite=True)
        assert file.read_text() == again.read_text(), entry.name
    assert 5 < refused < 40


def test_a_solution_of_what_was_read_has_the_same_bits(tmp_path):
    problem = rod(initial=np.sin(np.pi * np.linspace(0, 1, 30)) ** 3, parameters={"k": np.float64(0.1)})
    problem.save(tmp_path / "rod.toml")
    one, other = (fp.solve(p, tol=1e-4)(0.3, 0.5) for p in (problem, fp.read_problem(tmp_path / "rod.toml")))
    assert one == other


def test_the_command_line_takes_what_was_written(tmp_path):
    rod().save(tmp_path / "rod.toml")
    found = CliRunner().invoke(app, ["solve", str(tmp_path / "rod.toml"), "--tol", "1e-4"])
    assert "converged" in found.output


def test_options_of_the_command_line_are_not_part_of_a_problem(tmp_path):
    rod().save(tmp_path / "rod.toml")
    with open(tmp_path / "rod.toml", "a") as file:
        file.write("\n[solve]\ntol = 1e-3\n")
    assert repr(fp.read_problem(tmp_path / "rod.toml")) == repr(rod())


def test_what_is_no_text_is_not_written(tmp_path):
    file = tmp_path / "rod.toml"
    with pytest.raises(
        fp.StorageError, match=r"'k' of parameters is a Python object .*write it as text, or as a table"
    ):
        rod(parameters={"k": lambda x: 1 + x}).save(file)
    with pytest.raises(fp.StorageError, match=r"initial is a Python object \(function has no plain form\)"):
        rod(initial=np.sin and (lambda x: np.sin(np.pi * x))).save(file)
    with pytest.raises(fp.StorageError, match=r"have 251,000 numbers; a text file takes 200,000.*initial = \{file = "):
        fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), np.ones((500, 500)), "u_n = 0").save(file)
    assert not file.exists()
    rod().save(file)
    with pytest.raises(
        fp.StorageError, match=r"there is a file .* already; take another name, or write overwrite=True"
    ):
        rod().save(file)
    file.write_text('equations = "u_t = u_xx"')
    with pytest.raises(fp.ProblemError, match=r"unknown key 'equations'.* Did you mean 'equation'"):
        fp.read_problem(file)


@pytest.mark.parametrize(
    "document",
    [
        {"a": 'quote " and \\ and \n and \x7f and \x1b and ü', "b": True, "c": 1e-300, "d": float("inf"), "e": -3},
        {"a b": {"κ": [1, [2.5, "x"], {"k": 1, "l m": []}]}, "": {"": ""}},
        {"table": {"inner": {"deep": {"x": [{}]}}}, "last": [[]]},
    ],
)
def test_toml_is_read_as_it_was_written(document):
    assert tomllib.loads(toml_text(document)) == document


# ---- pictures -------------------------------------------------------------------------------------


def explained(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_picture_says_what_holds_where(tmp_path):
    sides = {"left": "u = 0", "right": "u_n = 0.1*u", "top": ["u = t"], "bottom": fp.Neumann(0)}
    regions, k = {"steel": "x < 0.5", "air": "rest"}, {"steel": 50, "air": 0.1}
    plate = fp.Problem(
        "u_t = div(k*grad(u)) + delta(x - 0.7, y - 0.5)",
        fp.Box([0, 0], [1, 1]),
        (0, 1),
        0,
        sides,
        parameters={"k": k},
        regions=regions,
    )
    figure = plate.plot(tmp_path / "plate.png")
    assert (tmp_path / "plate.png").stat().st_size > 10_000
    texts = explained(figure)
    assert {
        "steel",
        "air",
        "left:  u = 0",
        "right:  u_n = 0.1*u",
        "top:  u = t",
        "bottom:  u_n = 0",
        "point source",
    } == {*texts}
    assert figure.axes[0].get_title() == "u_t = div(k*grad(u)) + delta(x - 0.7, y - 0.5)\n0 ≤ t ≤ 1"


@pytest.mark.parametrize(
    ("domain", "boundary", "labels"),
    [
        (fp.Interval(0, 1), {"left": "u = 0", "right": fp.Free()}, ["left:  u = 0", "right:  free"]),
        (fp.Ball((0, 0, 0), 1), "u = 0*x", ["boundary:  u = 0*x"]),
        (fp.Interval(0, 1, periodic=True), None, []),
    ],
)
def test_pictures_in_one_and_three_dimensions(domain, boundary, labels):
    equation = "u_t = lap(u)" if domain.dimension > 1 else "u_t = -u_x"
    assert explained(fp.Problem(equation, domain, (0, 1), 0, boundary).plot())[1:] == labels

"""Problem files with keys, values and bytes that do not belong there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from frozenpinn.cli.problem_file import read_problem_file
from frozenpinn_lab.fuzzing.trial import Trial

FILES = (
    """equation = "u_t + u*u_x = nu*u_xx"
time = [0, 1]
initial = "-sin(pi*x)"
boundary = "u = 0"
[domain]
lower = [-1]
upper = [1]
periodic = [false]
[parameters]
nu = 0.01
[solve]
tol = 1e-3
width = 20
""",
    """equation = {u = "lap(u) - v", v = "u*v"}
time = [0, 1]
initial = {u = 0, v = "x"}
boundary = {boundary = [{kind = "dirichlet", value = 0, field = "u"}, {kind = "neumann", field = "v"}]}
[domain]
kind = "disk"
center = [0, 0]
radius = 2
""",
    """equation = ["u_tt = lap(u)"]
time = [0, 0.5]
initial = "x"
initial_velocity = 0
exact = "x"
boundary = {left = "u = 0", right = "u_n = 1", bottom = "free", top = {kind = "robin", alpha = 1, beta = 2}}
[domain]
kind = "box"
lower = [0, 0]
upper = [1, 1]
[solve]
integrator = "cvode"
seed = 3
""",
    """equation = "u_t = lap(u)"
time = [0, 1]
initial = 0
boundary = "u = 0"
[domain]
kind = "difference"
parts = [
  {kind = "polygon", vertices = [[0, 0], [4, 0], [4, 3], [0, 3]], sides = {inlet = [3]}},
  {kind = "ball", dimension = 2, center = [2, 1.5]}
]
""",
    """equation = "u_t = lap(u)"
time = [0, 1]
initial = 0
boundary = "u = 0"
[domain]
kind = "extruded"
lower = 0
upper = 1
base = {kind = "implicit", function = "x^2 + y^2 - 1", lower = [-2, -2], upper = [2, 2]}
""",
)
WORDS = (
    *(
        "0",
        "-1",
        "1e400",
        "nan",
        "inf",
        "true",
        '"text"',
        '""',
        "[]",
        "[[]]",
        "{}",
        "[1, 2]",
        '["a"]',
        "1979-05-27",
        "9" * 30,
    ),
    *(
        '{kind = "disk"}',
        '{kind = "ball", dimension = 99999999}',
        "{kind = 5}",
        '"u_t = u_xx"',
        '"x"',
        '"\\u0000"',
        "[0, [1]]",
        "[0.5, 0.5, 0.5]",
    ),
)


def documents(rng: np.random.Generator, count: int) -> Iterator[Trial]:
    """Yield readings of problem files: values replaced, lines moved, doubled or left out, characters changed."""
    ways = (_other_value, _other_value, _other_key, _other_lines, _other_characters, _nested)
    for i in range(count):
        text = ways[i % len(ways)](FILES[i // len(ways) % len(FILES)], rng)
        yield Trial(text, _read(text))


def _read(text: str) -> Callable[[], object]:
    def read() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "problem.toml")
            with open(file, "w", encoding="utf-8", errors="surrogatepass") as handle:
                handle.write(text)
            return read_problem_file(Path(file))

    return read


def _word(rng: np.random.Generator) -> str:
    return WORDS[int(rng.integers(len(WORDS)))]


def _other_value(text: str, rng: np.random.Generator) -> str:
    """Replace the value of a line, or a number or a text within one."""
    lines = text.splitlines()
    i = int(rng.integers(len(lines)))
    key, equals, value = lines[i].partition(" = ")
    if not equals:
        return text + f"more = {_word(rng)}\n"
    if rng.random() < 0.5:
        lines[i] = f"{key} = {_word(rng)}"
    else:
        pieces = value.split(", ")
        pieces[int(rng.integers(len(pieces)))] = _word(rng)
        lines[i] = f"{key} = {', '.join(pieces)}"
    return "\n".join(lines)


def _other_key(text: str, rng: np.random.Generator) -> str:
    """Misspell a word somewhere."""
    places = [i for i, c in enumerate(text) if c.isalpha()]
    i = places[int(rng.integers(len(places)))]
    return text[:i] + "q" * int(rng.integers(0, 2)) + text[i + 1 :]


def _other_lines(text: str, rng: np.random.Generator) -> str:
    """Leave out, double or exchange lines."""
    lines = text.splitlines()
    i, j = (int(k) for k in rng.integers(0, len(lines), 2))
    choice = rng.random()
    if choice < 0.4:
        del lines[i]
    elif choice < 0.7:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.insert(j, lines[i])
    return "\n".join(lines)


def _other_characters(text: str, rng: np.random.Generator) -> str:
    """Change characters anywhere."""
    characters = list(text)
    for i in rng.integers(0, len(characters), int(rng.integers(1, 5))):
        characters[i] = chr(int(rng.integers(1, 300)))
    return "".join(characters)


def _nested(text: str, rng: np.random.Generator) -> str:
    """Put a domain inside domains, or lists inside lists."""
    depth = int(10 ** rng.uniform(0, 4.5))
    choice = rng.random()
    if choice < 0.2:
        return f"{text}\n[{'.'.join(['a'] * depth)}]\nb = 1"
    if choice < 0.3:
        return text + "\n[parameters2]\n" + "".join(f"p{i} = {i}\n" for i in range(depth))
    if choice < 0.6:
        return text.partition("[domain]")[0] + "boundary2 = " + "[" * depth + "]" * depth
    inner = '{kind = "disk"}'
    for _ in range(min(depth, 300)):
        inner = f'{{kind = "named", name = "a", domain = {inner}}}'
    return text.partition("[domain]")[0] + f"domain = {inner}"

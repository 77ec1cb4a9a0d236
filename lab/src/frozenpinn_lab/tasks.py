"""What a report is made of: lines of its table, points of its diagrams, pictures of studies; each is run once."""

from __future__ import annotations

import base64
import io
import json
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from frozenpinn.errors import FrozenPinnWarning
from frozenpinn.solve import solve
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import AUTO, FROZEN_PINN, Case
from frozenpinn_lab.cases.peers import solve_peer
from frozenpinn_lab.peers.methods import PINNS
from frozenpinn_lab.runner import (
    FAILURES,
    WARM_UP,
    Announce,
    BenchRun,
    Record,
    carry_out,
    failure,
    limited,
    timed,
    worst_error,
)
from frozenpinn_lab.studies import Study, plot_study

BUDGET = 300.0  #: seconds of one training, if no other budget is given
#: Guesses of the seconds of a task, for the remaining time, until there are measured ones.
GUESSES = {"best": 2.0, "paper": 5.0, AUTO: 4.0}


class Task(Protocol):
    """Something that is run once and leaves a record."""

    @property
    def key(self) -> str:
        """What tells it from all others."""

    @property
    def label(self) -> str:
        """What is being done, for people."""

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""

    def carry_out(self, announce: Announce) -> Record:
        """Do it."""


@dataclass(frozen=True)
class TableLine:
    """A line of the table."""

    run: BenchRun

    @property
    def key(self) -> str:
        """What tells it from all others: everything but the machine."""
        run = self.run
        told = [run.case.name, run.variant.label, run.method, run.recipe, run.precision, run.seeds, run.tol, run.budget]
        return json.dumps(["line", *told, run.steps])

    @property
    def label(self) -> str:
        """What is being done, for people."""
        return self.run.label

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""
        run = self.run
        if run.method in PINNS:
            return 12.0 if run.steps is not None else len(run.seeds) * (run.budget or BUDGET)
        if run.is_costly:
            return 90.0
        if run.method == "py-pde":
            return 40.0
        return GUESSES.get(run.recipe, 3.0) if run.method == FROZEN_PINN else 4.0

    def carry_out(self, announce: Announce) -> Record:
        """Run it for all seeds."""
        return carry_out(self.run, announce)


@dataclass(frozen=True)
class DiagramPoint:
    """A point of a work–precision diagram: one solve after a warm-up, with one seed."""

    case: Case
    method: str
    recipe: str | None
    name: str
    options: Mapping[str, Any]
    budget: float

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return json.dumps(["point", self.case.name, self.method, self.recipe, self.name, self.budget])

    @property
    def label(self) -> str:
        """What is being done, for people."""
        return f"{self.case.name}, error against time: {self.method} {self.recipe or ''} {self.name}"

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""
        return 2.0

    def carry_out(self, announce: Announce) -> Record:
        """Solve twice if that is quick, and measure the second time."""
        problem = self.case.problem(**self.case.variants[0].problem)
        place = self.case.variants[0].test_points or self.case.test_points
        record: Record = {
            "case": self.case.name,
            "title": self.case.title,
            "method": self.method,
            "recipe": self.recipe,
            "label": self.name,
        }
        announce(self.label)
        try:
            solution, seconds = timed(self._solve, problem)
            if seconds <= WARM_UP:
                solution, seconds = timed(self._solve, problem)
        except FAILURES as error:
            return {**record, "seconds": None, "rel_l2": None, **failure(error)}
        at = {} if place is None else {"at": place(problem)}
        return {**record, "seconds": seconds, "rel_l2": worst_error(solution, problem, **at)["rel_l2"]}

    def _solve(self, problem: Problem) -> Any:
        if self.method == FROZEN_PINN:
            return solve(problem, seed=0, progress=limited(self.budget), **self.options)
        return solve_peer(self.method, problem, self.options, 0, self.budget)


@dataclass(frozen=True)
class StudyFigure:
    """A picture of a study."""

    study: Study
    seeds: int = 1

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return json.dumps(["figure", self.study.name, self.seeds])

    @property
    def label(self) -> str:
        """What is being done, for people."""
        return f"study {self.study.name}"

    @property
    def guess(self) -> float:
        """About how many seconds it takes."""
        return 40.0

    def carry_out(self, announce: Announce) -> Record:
        """Run the study and draw it."""
        announce(self.label)
        command = f"frozenpinn study {self.study.name} --seeds {self.seeds} --plot {self.study.name}.png"
        record: Record = {"title": self.study.title, "caption": "", "command": command}
        try:
            with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
                warnings.simplefilter("ignore", FrozenPinnWarning)
                file = Path(folder) / "figure.png"  # fields of many cells are large as SVG
                rows = self.study.rows(self.seeds, lambda text: announce(f"{self.label}: {text}"))
                plot_study(self.study, rows, str(file))
                return {**record, "png": base64.b64encode(_small(file)).decode()}
        except FAILURES as error:
            return {**record, "png": None, **failure(error)}


def _small(file: Path) -> bytes:
    """Return a picture in 256 colours: a third of the size, and no difference that one sees."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(file) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(packed, "png", optimize=True)
    return packed.getvalue()

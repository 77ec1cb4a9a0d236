"""Inputs that nobody should write: texts, calls, problem files, meshes and stored solutions, from fixed seeds."""

from frozenpinn_lab.fuzzing.calls import calls
from frozenpinn_lab.fuzzing.documents import documents
from frozenpinn_lab.fuzzing.meshes import meshes
from frozenpinn_lab.fuzzing.stored import stored
from frozenpinn_lab.fuzzing.texts import texts
from frozenpinn_lab.fuzzing.trial import Outcome, Trial, outcome_of

KINDS = {"texts": texts, "calls": calls, "problem files": documents, "meshes": meshes, "stored solutions": stored}

__all__ = ["KINDS", "Outcome", "Trial", "outcome_of"]

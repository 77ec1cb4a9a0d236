"""Inputs that nobody should write: texts, calls, problem files, meshes and stored solutions, from fixed seeds."""

from frozenpinn.lab.fuzzing.calls import calls
from frozenpinn.lab.fuzzing.documents import documents
from frozenpinn.lab.fuzzing.meshes import meshes
from frozenpinn.lab.fuzzing.stored import stored
from frozenpinn.lab.fuzzing.texts import texts
from frozenpinn.lab.fuzzing.trial import Outcome, Trial, outcome_of

KINDS = {"texts": texts, "calls": calls, "problem files": documents, "meshes": meshes, "stored solutions": stored}

__all__ = ["KINDS", "Outcome", "Trial", "outcome_of"]

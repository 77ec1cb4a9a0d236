"""The steps of a solve one by one, for those who want to hold the matrices; ``examples/researcher.py`` takes them."""

from frozenpinn.assembly.discretisation import System, semidiscretize
from frozenpinn.assembly.spaces import build_space
from frozenpinn.basis.network import Network

__all__ = ["Network", "System", "build_space", "semidiscretize"]

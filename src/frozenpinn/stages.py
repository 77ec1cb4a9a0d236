"""The steps of a solve one by one, for those who want to hold the matrices; ``examples/researcher.py`` takes them."""

from frozenpinn.assembly.discretisation import Discretisation, discretise
from frozenpinn.assembly.strategies import build_space
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import SVDLayer

__all__ = ["Discretisation", "Network", "SVDLayer", "build_space", "discretise"]

"""Linear maps between coefficients and values."""

from frozenpinn.operators.algebra import Composition, Sum
from frozenpinn.operators.block import Block
from frozenpinn.operators.dense import Dense
from frozenpinn.operators.diagonal import Diagonal, Identity
from frozenpinn.operators.eigen import detect, symmetric_modes
from frozenpinn.operators.factors import ConvergenceError, IterativeFactor, as_linear_operator
from frozenpinn.operators.kronecker import KroneckerSum, kronecker
from frozenpinn.operators.matrix_free import MatrixFree
from frozenpinn.operators.protocol import DENSE_LIMIT, Factor, Operator, Spectrum, Tag
from frozenpinn.operators.sparse import Sparse
from frozenpinn.operators.tensor import Product, Selection

__all__ = [
    "DENSE_LIMIT",
    "Block",
    "Composition",
    "ConvergenceError",
    "Dense",
    "Diagonal",
    "Factor",
    "Identity",
    "IterativeFactor",
    "KroneckerSum",
    "MatrixFree",
    "Operator",
    "Product",
    "Selection",
    "Sparse",
    "Spectrum",
    "Sum",
    "Tag",
    "as_linear_operator",
    "detect",
    "kronecker",
    "symmetric_modes",
]

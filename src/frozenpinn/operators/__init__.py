"""Linear maps between coefficients and values."""

from frozenpinn.operators import tensor
from frozenpinn.operators.algebra import Block, Composition, Sum, diagonal_blocks
from frozenpinn.operators.dense import Dense, Diagonal, Identity
from frozenpinn.operators.eigen import detect, symmetric_modes
from frozenpinn.operators.factors import IterativeFactor, as_linear_operator
from frozenpinn.operators.inverse import Inverse
from frozenpinn.operators.kronecker import KroneckerSum, kronecker, mapping, stack
from frozenpinn.operators.least_squares import LeastSquares
from frozenpinn.operators.matrix_free import MatrixFree
from frozenpinn.operators.mode_matrices import ModeMatrices
from frozenpinn.operators.protocol import DENSE_LIMIT, Factor, Operator, Spectrum, Tag
from frozenpinn.operators.sparse import Sparse
from frozenpinn.operators.stored import operator_arrays, operator_from_arrays
from frozenpinn.operators.tensor import Product, ProductSum, Selection
from frozenpinn.operators.waves import by_transforms

__all__ = [
    "DENSE_LIMIT",
    "Block",
    "Composition",
    "Dense",
    "Diagonal",
    "Factor",
    "Identity",
    "Inverse",
    "IterativeFactor",
    "KroneckerSum",
    "LeastSquares",
    "MatrixFree",
    "ModeMatrices",
    "Operator",
    "Product",
    "ProductSum",
    "Selection",
    "Sparse",
    "Spectrum",
    "Sum",
    "Tag",
    "as_linear_operator",
    "by_transforms",
    "detect",
    "diagonal_blocks",
    "kronecker",
    "mapping",
    "operator_arrays",
    "operator_from_arrays",
    "stack",
    "symmetric_modes",
    "tensor",
]

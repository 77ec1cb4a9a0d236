"""``fp.load``: what a file holds, a solution or modes."""

from __future__ import annotations

import numpy as np

from frozenpinn.errors import StorageError, silenced
from frozenpinn.modes.result import KIND, Modes, rebuilt_modes
from frozenpinn.results.archive import FORMAT, Reader
from frozenpinn.results.solution import Solution
from frozenpinn.results.storage import rebuilt_solution
from frozenpinn.runtime.arguments import spelled


@spelled(StorageError)
def load(file: str) -> Solution | Modes:
    """Read a solution that :meth:`Solution.save` has stored, or modes that :meth:`Modes.save` has.

    They can be evaluated and differentiated like the original. :class:`StorageError` if a single bit of it is wrong.

    Examples
    --------
    >>> import tempfile
    >>> import frozenpinn as fp
    >>> solution = fp.solve(fp.Problem("lap(u) = -4", fp.Disk(), boundary="u = 0"), tol=1e-6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     solution.save(f"{folder}/dome.fpinn")
    ...     again = fp.load(f"{folder}/dome.fpinn")
    >>> bool(again(0.1, 0.2) == solution(0.1, 0.2))
    True
    """
    reader = Reader(file, FORMAT)
    meta, arrays = reader.read()
    try:
        with silenced(Warning), np.errstate(all="ignore"):  # warned about when the problem was stated and solved
            if meta.get("kind") == KIND:
                return rebuilt_modes(meta, arrays)
            return rebuilt_solution(meta, arrays)
    except Exception as error:  # checksums are right, so the contents were made up
        reader.damaged(f"it can't be put together ({type(error).__name__}: {str(error)[:200]})")

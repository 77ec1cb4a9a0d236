"""Unknown numbers and fields from measurements: models of what is measured, fits, and how sure they are.

``fp.infer`` is what a user calls; the two algorithms of the paper are public here, for comparison.
"""

from frozenpinn.inverse.paper import Alternating, Guess, Scan

__all__ = ["Alternating", "Guess", "Scan"]

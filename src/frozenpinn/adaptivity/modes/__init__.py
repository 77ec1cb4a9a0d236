"""Eigenvalues to a tolerance: widths, witnesses, and which of the values found are true."""

"""Eigenvalues, steady states and their stability."""

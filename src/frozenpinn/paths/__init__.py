"""Paths of solutions in a parameter, and all solutions of a problem."""

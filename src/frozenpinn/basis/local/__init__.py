"""Local networks: frozen neurons on patches, small pieces of the domain that are cut by its boundary.

Geometry and functions only; equations meet them in :mod:`frozenpinn.assembly.hybrid`.
"""

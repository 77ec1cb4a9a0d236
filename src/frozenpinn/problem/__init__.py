"""The mathematics: equations, domains, conditions. Imports nothing from the numerics."""

"""The mathematics of a problem, and nothing numerical: equations, conditions, data, documents."""

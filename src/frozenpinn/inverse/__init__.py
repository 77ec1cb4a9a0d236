"""Unknown numbers and fields from measurements: models of what is measured, fits, and how sure they are."""

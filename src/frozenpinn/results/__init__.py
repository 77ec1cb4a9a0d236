"""What a solve returns: the solution, its residuals, its report, its file."""

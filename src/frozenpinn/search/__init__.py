"""One plan, one search, one estimate, one budget, the rules."""

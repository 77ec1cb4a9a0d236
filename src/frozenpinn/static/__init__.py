"""Static problems: sizes, features, least squares and Newton's method, judgement."""

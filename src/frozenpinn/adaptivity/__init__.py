"""What is chosen by the program: sizes, windows in time, the search for a tolerance."""

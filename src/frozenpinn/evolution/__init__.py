"""Problems with time: sizes, bases that follow the solution, windows in time, errors of steps."""

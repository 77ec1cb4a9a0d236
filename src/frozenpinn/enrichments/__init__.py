"""The list of functions beside the neurons: corners, holes, layers, narrow sources."""

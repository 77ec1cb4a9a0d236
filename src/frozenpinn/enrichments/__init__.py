"""Functions added to the neurons: corners, holes, layers, narrow sources; offers.py lists them."""

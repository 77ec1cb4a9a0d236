"""Where the problem and the network meet: the semi-discrete system and its integration in time."""

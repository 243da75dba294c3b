"""Features, convolutions, readouts, the network; saved and loaded."""

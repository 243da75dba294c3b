"""The encoder: node features, convolutions, readouts, the network, and its storage."""

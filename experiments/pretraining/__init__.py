"""Training of the encoders that come with the package: data, deduplication, blocks, the script."""

"""Pairs, losses, the loop, fine-tuning, checkpoints."""

"""Training: pairs, losses, the training loop, fine-tuning and checkpoints."""

"""The paper's tables and figures, and ours: `python -m experiments --help`."""

"""A run: what is gathered, in which order, and what it would read."""

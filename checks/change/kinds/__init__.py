"""The kinds of change. Each has a file with its request and its plan; the steps, gates and the journal are shared."""

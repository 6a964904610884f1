"""AWR and Statspack history generated from a seed, so that a test knows its true values."""

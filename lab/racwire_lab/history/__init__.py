"""AWR and Statspack history made from a seed, so that a test knows what is true of it."""

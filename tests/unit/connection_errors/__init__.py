"""The errors of a failed connection: one sentence with the next step for each cause, never with a password."""

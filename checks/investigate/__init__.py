"""Guided troubleshooting: which step separates the causes that a report leaves, and what its answer means. No I/O."""

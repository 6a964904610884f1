"""The practice cluster, for tests: one of its own, never the operator's."""

"""Errors of the practice cluster, each one sentence."""


class LabError(Exception):
    """One sentence for the operator: what happened, where, and what to do about it."""


class LabUsageError(LabError):
    """A fault, node, network or size that does not exist."""

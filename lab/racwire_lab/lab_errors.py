"""Errors of the practice cluster; the text of each is one sentence."""


class LabError(Exception):
    """The practice cluster could not do something. The text says what happened, where, and what to do."""


class LabUsageError(LabError):
    """The caller named a fault, node, network, port or size that does not exist."""

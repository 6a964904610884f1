"""What goes wrong in the practice cluster, said in one sentence."""


class LabError(Exception):
    """One sentence for the operator: what happened, where, and what to do about it."""


class LabUsageError(LabError):
    """What was asked for does not exist: a fault, a node, a network, a size that there cannot be."""

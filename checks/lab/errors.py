"""What goes wrong in the practice cluster, said in one sentence."""


class LabError(Exception):
    """One sentence for the operator: what happened, where, and what to do about it."""

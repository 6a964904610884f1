"""The kinds of change between two reports. Their values are those of `change` in the JSON of `racwire diff`."""

from __future__ import annotations

from enum import StrEnum


class DiffKind(StrEnum):
    """What happened to a finding. Each kind has a counterpart: the kind of the same finding with the reports swapped.

    The values belong to the format `racwire-diff/1`. Programs read them; no screen displays them.
    """

    MORE_SEVERE = "graver"
    """A more severe status: of the same finding, or a failure where its check had a warning about the same nodes."""
    LESS_SEVERE = "milder"
    HIGHER = "more"
    """A higher extent. A measured extent must differ by the factor `diff_facts.MUCH`."""
    LOWER = "less"
    MORE_NODES = "on more nodes"
    FEWER_NODES = "on fewer nodes"
    OTHER_NODES = "on other nodes"
    """As many nodes, and at least one of them is another one."""
    WAIVER_ENDED = "no longer waived"
    WAIVED = "waived"
    NEW = "new"
    GONE = "gone"
    BECAME_UNKNOWN = "cannot be told any more"
    """The result is unknown, and was known; or the finding was there, and its place could not be checked again."""
    BECAME_KNOWN = "could not be told before"
    NOT_RERUN = "not looked at now"
    """The check of the finding was not run again."""
    FIRST_RUN = "not looked at before"
    NO_PROBLEM = "calm"
    """A finding that is no problem and that only one of the two reports has."""
    SAME = "same"

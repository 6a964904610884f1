"""The declaration of a cause: the findings that show it or exclude it, and how to examine it by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from checks.model.facts import Cluster
from checks.model.finding import Remedy

MOS_LIST = "MOS 563566.1"
"""Oracle's list of 26 causes of lost blocks."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A cause of lost or slow blocks, or of evicted nodes."""

    code: str
    """`CAUSE-01` to `CAUSE-26` have Oracle's numbers; others follow from `CAUSE-31` on. Never reused."""
    name: str
    sources: tuple[str, ...] = ()
    proved_by: tuple[str, ...] = ()
    """The codes of problems that are the cause itself, observed at its place."""
    supported_by: tuple[str, ...] = ()
    """The codes of problems that the cause explains better than others do."""
    leads_to: tuple[str, ...] = ()
    """The codes, or starts of codes (`IC-PATH-`), of findings that the cause produces at its place, in addition to what
    the database and Clusterware suffer from any cause."""
    proof_leads_to: tuple[str, ...] = ()
    """The codes that the cause produces too, and that count only where it is proved: other causes do so more often."""
    hinted_by: tuple[str, ...] = ()
    """The codes of findings that make the cause possible, such as counts of the past, which need not be of now."""
    cleared_by: tuple[str, ...] = ()
    """The checks that together exclude the cause where none of them shows it or is UNKNOWN."""
    excluded_by: tuple[str, ...] = ()
    """The codes that together exclude the cause: each was found without a problem or an UNKNOWN of its check."""
    covers: str = ""
    """What the exclusion covers, as a clause: `for the packets of this run`."""
    look: tuple[Remedy, ...] = ()
    """How to examine the cause where racwire does not."""
    ruled_out: Callable[[Cluster], str] | None = None
    """Returns the sentence that excludes the cause on this cluster, from its facts; empty where none does."""
    other_platform: str = ""
    """The platform to which the cause is confined; the nodes run Linux."""

    @property
    def is_examined(self) -> bool:
        """Whether racwire has evidence for or against the cause."""
        return any((self.proved_by, self.supported_by, self.hinted_by, self.excluded_by, self.cleared_by)) or bool(
            self.other_platform
        )


def mos(number: int) -> str:
    """Return the source for a number of Oracle's list."""
    return f"{MOS_LIST}, cause {number}"


def look(text: str, *commands: str, where: str = "root on each node") -> tuple[Remedy, ...]:
    """Return the step that examines a cause by hand."""
    return (Remedy(text, commands, where),)

"""What happens in a change: the events that its journal holds, and that its state is folded from."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.change.change_plan import Plan
from checks.model.facts import BeforeAfter
from checks.model.finding import Status


class GateResult(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one gate said of one node, or of the whole cluster."""

    check: str
    status: Status
    text: str
    """A few words for a list: `9000 kept`, `1500`."""
    node: str = ""
    """Empty where it is about the cluster or a path."""
    sentence: str = ""
    """What was seen, in full: it could be read aloud."""
    next: tuple[str, ...] = ()
    """What to do about it, a sentence or a command each."""

    @property
    def holds(self) -> bool:
        """Whether it lets the next step come. Not knowing does not, and neither does a warning."""
        return self.status in (Status.PASS, Status.INFO, Status.SKIPPED)


class ObservedState(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the nodes were when they were looked at: what a later look is compared with."""

    boot_ids: dict[str, str] = msgspec.field(default_factory=dict)
    mtus: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """The MTU of each layer: by node, by interface."""
    running: dict[str, bool] = msgspec.field(default_factory=dict)
    """Whether Clusterware or an instance runs, by node; a node of which it is not known is left out."""


class Event(msgspec.Struct, frozen=True, tag_field="event", omit_defaults=True):
    """Something that happened."""


class Opened(Event, frozen=True, tag="opened"):
    """The change was begun with this plan."""

    plan: Plan
    look: ObservedState = ObservedState()


class Verified(Event, frozen=True, tag="verified"):
    """The gates of a step were looked at, and those before it that must still hold."""

    step: str
    passed: bool
    results: tuple[GateResult, ...]
    look: ObservedState = ObservedState()
    figures: dict[str, str | BeforeAfter] = msgspec.field(default_factory=dict)
    """What was measured on the way and the report shows: `gc blocks lost prod1`, `IC ping 8K rac1 -> rac2`."""


class Attested(Event, frozen=True, tag="attested"):
    """Somebody said by name that what racwire cannot see is so."""

    step: str
    by: str
    note: str = ""


class Overridden(Event, frozen=True, tag="overridden"):
    """A gate that did not pass was gone past, for a reason that somebody typed."""

    step: str
    by: str
    reason: str


class Noted(Event, frozen=True, tag="noted"):
    """A remark, for the report and for who comes next."""

    step: str
    text: str


class Surprise(StrEnum):
    """What can have changed under a change."""

    REBOOTED = "rebooted"
    """A node was booted since the last look."""
    MTU_LOST = "MTU lost"
    """A node has another MTU than was proved before."""
    LIVE_CHANGE = "live change"
    """An MTU was changed while Clusterware runs somewhere: dangerous."""
    STACK_STARTED = "stack started"
    """Clusterware runs on a node where it must not yet."""
    OTHER = "other"
    """Something else that was proved is no longer so."""


class Surprised(Event, frozen=True, tag="surprised"):
    """The cluster changed under the change: by somebody else, or by itself."""

    what: Surprise
    node: str
    sentence: str
    dangerous: bool = False


class Reopened(Event, frozen=True, tag="reopened"):
    """A step that was done is not any more: its gate was looked at again and no longer passes."""

    step: str
    why: str


class RolledBack(Event, frozen=True, tag="rolled back"):
    """The way back was begun: from here on, this plan is followed."""

    plan: Plan
    by: str
    reason: str


class Closed(Event, frozen=True, tag="closed"):
    """The change is over."""

    outcome: str
    """`signed off`, `rolled back`, `abandoned`."""
    by: str
    reason: str = ""


AnyEvent = Opened | Verified | Attested | Overridden | Noted | Surprised | Reopened | RolledBack | Closed


class JournalLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the journal: an event, who was at the keyboard, and when."""

    number: int
    at: str
    """ISO 8601, with the zone of the node."""
    who: str
    """`oracle@rac1`: the login and node, as the system knows them."""
    racwire: str
    """The version that wrote it."""
    after: str
    """SHA-256 of the line before, in hex; empty for the first. A line that was changed by hand is found by it."""
    event: AnyEvent

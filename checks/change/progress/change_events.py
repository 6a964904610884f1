"""The events of a change: its journal holds them, and its state is folded from them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.change.plan.change_plan import Plan
from checks.model.facts import BeforeAfter, PredictedFigure
from checks.model.finding import NextStep, Status


class GateResult(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of one gate for one node, or for the whole cluster."""

    check: str
    status: Status
    text: str
    """A short text for a list: `9000 at boot`, `1500`."""
    node: str = ""
    """The node; empty for a result about the cluster or a path."""
    sentence: str = ""
    """The result in a complete sentence."""
    next: tuple[NextStep, ...] = ()
    is_danger: bool = False
    """Whether blocks are being lost: nodes have different MTUs while Clusterware runs."""

    @property
    def holds(self) -> bool:
        """Whether the result allows the next step. FAIL, WARN and UNKNOWN prevent it."""
        return self.status in (Status.PASS, Status.INFO, Status.SKIPPED)


class ObservedState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of the nodes at a verification, which the next verification is compared with."""

    boot_ids: dict[str, str] = msgspec.field(default_factory=dict)
    mtus: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """The MTU of each layer: by node, by interface."""
    running: dict[str, bool] = msgspec.field(default_factory=dict)
    """Whether Clusterware or an instance runs, by node; a node is left out if this is not known."""
    instances: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The running instances of databases, by node; a node is left out if they are not known."""
    carried: tuple[str, ...] = ()
    """The nodes whose `running` and `instances` are those of an earlier verification, since they could not be read."""
    values: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    """The kernel settings that the plan changes: by node, by key."""
    buffers: dict[str, int] = msgspec.field(default_factory=dict)
    """The largest receive buffer of a UDP socket on the private networks, in bytes, by node."""
    interconnects: tuple[str, ...] = ()
    """The sorted lines of `oifcfg getif`; empty if they were never read."""


class Event(msgspec.Struct, frozen=True, tag_field="event", omit_defaults=True):
    """An event of a change."""


class Opened(Event, frozen=True, tag="opened"):
    """The change was opened with this plan."""

    plan: Plan
    look: ObservedState = ObservedState()


class Begun(Event, frozen=True, tag="begun"):
    """The operator started a step that stops or changes something: what falls from now on, and was well, is planned."""

    step: str
    look: ObservedState = ObservedState()
    """The state of the nodes right before, as far as they could be read: an unread node is left out."""


class Verified(Event, frozen=True, tag="verified"):
    """The gates of a step were verified, and those of earlier steps that must still hold."""

    step: str
    passed: bool
    results: tuple[GateResult, ...]
    look: ObservedState = ObservedState()
    figures: dict[str, str | BeforeAfter] = msgspec.field(default_factory=dict)
    """The measured figures for the report: `gc blocks lost prod1`, `IC ping 8K rac1 -> rac2`."""
    predicted: tuple[PredictedFigure, ...] = ()
    """Predictions from the recording before the change, with what the recording after it has."""


class Attested(Event, frozen=True, tag="attested"):
    """A person attested a fact that racwire cannot verify."""

    step: str
    by: str
    note: str = ""
    host: str = ""
    """The host of the statement, for a step that is attested for each host."""


class Overridden(Event, frozen=True, tag="overridden"):
    """A person overrode a gate that did not pass, with a typed reason."""

    step: str
    by: str
    reason: str
    not_held: tuple[GateResult, ...] = ()
    """The results that did not pass in the last verification, which the override is for."""
    verified_at: str = ""
    """The time of that verification."""


class Noted(Event, frozen=True, tag="noted"):
    """A note for the report and for the next operator."""

    step: str
    text: str


class Surprise(StrEnum):
    """The kinds of unexpected changes of the cluster."""

    REBOOTED = "rebooted"
    """A node was booted since the last verification."""
    MTU_LOST = "MTU lost"
    """A node has another MTU than at an earlier verification."""
    LIVE_CHANGE = "live change"
    """An MTU was changed while Clusterware runs on a node: dangerous."""
    STACK_STARTED = "stack started"
    """Clusterware runs on a node where it must still be down."""
    OTHER = "other"
    """Another gate that passed before does not pass any more."""


class Surprised(Event, frozen=True, tag="surprised"):
    """The cluster changed unexpectedly: by another person, or by itself."""

    what: Surprise
    node: str
    sentence: str
    dangerous: bool = False


class Booted(Event, frozen=True, tag="booted"):
    """A node was booted because the current step asks for it, and came back as planned: no surprise."""

    node: str
    sentence: str


class Reopened(Event, frozen=True, tag="reopened"):
    """A done step must be done again: its gate does not pass in a later verification."""

    step: str
    why: str


class RolledBack(Event, frozen=True, tag="rolled back"):
    """The rollback was started: this plan replaces the current one."""

    plan: Plan
    by: str
    reason: str


class ChangeOutcome(StrEnum):
    """How a change ended."""

    SIGNED_OFF = "signed off"
    ROLLED_BACK = "rolled back"
    ABANDONED = "abandoned"


class Closed(Event, frozen=True, tag="closed"):
    """The change was closed."""

    outcome: ChangeOutcome
    by: str
    reason: str = ""


AnyEvent = (
    Opened | Begun | Verified | Attested | Overridden | Noted | Surprised | Booted | Reopened | RolledBack | Closed
)


class JournalLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the journal: an event, its time, and the login that wrote it."""

    number: int
    at: str
    """ISO 8601, with the zone of the node."""
    who: str
    """The login and node, as the system reports them: `oracle@rac1`."""
    racwire: str
    """The version of racwire that wrote the line."""
    after: str
    """SHA-256 of the line before, in hex; empty for the first line. It reveals a line that was changed by hand."""
    event: AnyEvent
    boot: str = ""
    """The boot id of the node; empty if the kernel does not report it."""
    up_s: int = 0
    """The seconds since that boot, which no change of the clock affects."""
    cut: int = 0
    """The bytes of an incomplete line that were removed before this line was written."""


class JournalSeal(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a journal: kept elsewhere, it reveals lines that were removed there."""

    lines: int
    """The number of its lines."""
    sha256: str
    """SHA-256 of its last line, in hex."""
    incomplete_bytes: int = 0
    """The bytes after its last line: an event that was being written, and was not reported as written."""

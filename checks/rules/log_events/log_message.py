"""One message of Oracle's logs: how it is found in a log, what it reports, and about whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from checks.model.facts import LogKind


class LogEvent(StrEnum):
    """What lines of a log report."""

    HEARTBEAT = "network heartbeat missing"
    """CRS-1612 after 50 % of misscount, CRS-1611 after 75 %, CRS-1610 after 90 %."""
    NO_NETWORK_HEARTBEAT = "disk heartbeat without a network heartbeat"
    NODE_EVICTED = "node evicted"
    CSS_ENDED = "CSS ended with a fatal error"
    INSTANCE_EVICTED = "instance evicted"
    INSTANCE_ENDED = "instance ended"
    SEND_TIMEOUT = "IPC send timeout"
    NO_CONNECTION = "no connection to the other instances"
    GIPC = "GIPC or HAIP failed"
    INTERFACE_LOST = "interface lost"
    FOREIGN_ROUTE = "route in the range of HAIP removed"
    NO_BUFFERS = "no buffer space for IPC"
    TOO_LONG = "message too long"
    SEND_FAILED = "send failed"
    HUNG = "process of global cache hung"
    RECONFIGURED = "reconfiguration"
    DISK_HEARTBEAT = "voting file without I/O"
    """No matter of the network, but often taken for one."""


class LineRole(StrEnum):
    """What a line is in a log: most report an event, and others help to understand those."""

    EVENT = "event"
    STARTED = "an instance starts"
    ORDER = "a stop by order"
    OS_ERROR = "an error of the operating system, in several lines"
    RECEIVER = "the receiver of the line before"
    CONTEXT = "belongs to other lines"


class About(StrEnum):
    """Whom a line is about, and so how its name is found in the text."""

    NOBODY = "nobody"
    OWNER = "the writer"
    NODE = "a node"
    INSTANCES = "instances, by number"
    ROUTE = "a route"
    INTERFACE = "an address or a NIC"


CLUSTERWARE = frozenset({LogKind.CLUSTERWARE})
TRACES = frozenset({LogKind.OCSSD, LogKind.GIPCD, LogKind.OHASD})
INSTANCES = frozenset({LogKind.DATABASE, LogKind.ASM})
ERROR_MESSAGES = "Oracle Database Error Messages"


@dataclass(frozen=True)
class LogMessage:
    """A message that racwire reads."""

    code: str
    """`CRS-1612`, or a fixed phrase for a message without a code: the code of its lines."""
    source: str
    """Where its text and its meaning are documented or reported."""
    sample: str
    """A line, without the time stamp where that is on a line of its own."""
    event: LogEvent | None = None
    role: LineRole = LineRole.EVENT
    about: About = About.NOBODY
    logs: frozenset[LogKind] = CLUSTERWARE
    pattern: str = ""
    """An expression that means the same to `grep -E` and to Python; empty for the code itself, in any language."""
    counts: bool = True
    """Whether each line is one more event, and not a further line about the same one."""
    percent: int = 0
    """The part of misscount without a heartbeat."""

    @property
    def expression(self) -> str:
        """The expression that finds the message, for `grep -E` and for Python alike."""
        return self.pattern or f"{self.code}([^0-9]|$)"

    @cached_property
    def finds(self) -> re.Pattern[str]:
        """The expression, for Python."""
        return re.compile(self.expression)

"""The result of a measurement or a drill: what was sent, on which paths, and what was found. Data only.

Rounds are samples: `compare` sets the rounds of two measurements against each other by a rank test.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import msgspec

from checks.model.drill_result import DrillEvent as DrillEvent
from checks.model.drill_result import DrillOf as DrillOf
from checks.model.drill_result import PathSilence as PathSilence
from checks.model.facts import Fact, Unknown
from checks.model.flow_result import FlowRound as FlowRound
from checks.model.flow_result import FlowSummary as FlowSummary
from checks.model.flow_result import LinkFill as LinkFill
from checks.model.flow_result import MeasuredMix as MeasuredMix
from checks.model.flow_result import PriorityEffect as PriorityEffect
from checks.model.kept_percentiles import keep_percentiles
from checks.model.measured_rate import MeasuredRate

FORMAT = 1
"""The version of the format of a result file."""
CONTROL_BYTES = 64
"""The message that fits any MTU: its times must not differ between two MTUs, or something else has changed."""


class MeasuredPath(Fact, frozen=True):
    """A path on which a measurement sent."""

    network: str
    """The subnet."""
    source_node: str
    source: str
    """The address."""
    target_node: str
    target: str
    interface: str
    """The interface of the source."""
    mtu: int
    speed_mbps: int | None = None
    """The speed of the slower end; None where a driver names none."""
    far_end: str = "kernel"
    """What answered: `kernel` (pings), `perl` or `python`."""
    program: str = ""
    """The interpreter that ran the far end, such as /u01/app/19c/grid/perl/bin/perl; empty for the kernel."""
    is_public: bool = False
    """Whether it is on a public network: only `measure rate --public` sends there."""
    target_interface: str = ""
    """The interface of the target."""
    is_haip: bool = False
    """Whether both addresses are HAIPs, which may move to other interfaces."""


class SizeRound(Fact, frozen=True):
    """Messages of one size on one path for one round. Times are round trips in microseconds."""

    path: int
    """The number of the path in `Measurement.paths`."""
    size: int
    """Payload of a message, in bytes; of a train, that of each datagram."""
    train: int
    """Datagrams of one message: 1, or the blocks of a multiblock read."""
    rate: float
    """Messages a second, sent whether or not answers came; 0 where each message waited for the answer before."""
    round: int
    at: float
    """Seconds since 1970, at the start."""
    seconds: float
    sent: int
    lost: int
    refused: int
    """Messages that this node's kernel did not take, which were not sent."""
    withheld: int
    """Messages that were due while as many as allowed were unanswered, which were not sent."""
    p50_us: float | None
    p99_us: float | None
    mean_us: float | None
    max_us: float | None
    lateness_p99_us: float | None
    """How late this node sent, where messages have a rate."""
    cpu_here_us: float | None
    """CPU time of the sender for each message."""
    cpu_there_us: float | None
    """CPU time of the far end for each message; None for the kernel."""
    cpu_node_us: float | None
    """CPU time of this whole node for each message, less that of an idle second before: kernel and sender."""

    def __post_init__(self) -> None:
        """Keep no percentile of too few messages."""
        keep_percentiles(self, self.sent - self.lost, p99_us=0.99)
        keep_percentiles(self, self.sent, lateness_p99_us=0.99)


class SizeSummary(Fact, frozen=True):
    """All rounds of one size on one path together."""

    path: int
    size: int
    train: int
    rate: float
    frames: int
    """IP packets of one message at this path's MTU, one way; of a train, those of all its datagrams."""
    answers: int
    sent: int
    lost: int
    p50_us: float | None
    p99_us: float | Unknown
    """Unknown where the answers are too few, as `checks.model.percentiles` has it: below 100."""
    p999_us: float | Unknown
    """Unknown with fewer than 1,000 answers."""
    messages_per_s: float | None
    """Messages a second, one at a time; limited by the packets a second that the plan allows."""
    megabytes_per_s: float | None
    cpu_here_us: float | None
    cpu_there_us: float | None
    cpu_node_us: float | None

    def __post_init__(self) -> None:
        """Keep no percentile of too few answers."""
        keep_percentiles(self, self.answers, "answer", p99_us=0.99, p999_us=0.999)


class MeasuredSizes(Fact, frozen=True, tag="sizes"):
    """`racwire measure sizes`."""

    kind: ClassVar[str] = "sizes"
    rounds: tuple[SizeRound, ...] = ()
    summaries: tuple[SizeSummary, ...] = ()


class HashPort(Fact, frozen=True):
    """One UDP source port of one path: the switch chooses a member of a LAG by it."""

    path: int
    source_port: int
    """The port of this node; a datagram towards this node has it as its destination."""
    sent: int
    answered: int
    is_towards_here: bool = False
    """Whether the full-size datagrams came from the peer."""
    small_sent: int = 0
    """Small datagrams both ways from a port whose full-size datagrams had no answer."""
    small_answered: int = 0


class HashDirection(Fact, frozen=True):
    """What the source ports of one direction of a path show together."""

    path: int
    is_towards_here: bool
    verdict: str
    """As `checks.rules.flow_verdicts.FlowVerdict` has it."""
    dead: int
    """Ports that lost every full-size datagram."""
    of: int
    sent: int
    """Datagrams that left, small ones included."""
    counted: int
    """Datagrams that arrived, small ones included."""
    members: int | None = None
    """The parallel links that the share of dead ports suggests, where one of them is dead; None without dead ports."""
    least_members: int | None = None
    most_members: int | None = None
    """The numbers of links that agree with the share (95 %)."""
    reason: str = ""
    """Why the verdict is not decided."""


class MeasuredHashes(Fact, frozen=True, tag="hashes"):
    """`racwire measure hashes`."""

    kind: ClassVar[str] = "hashes"
    size: int = 0
    """Payload of the datagrams, which fill the MTU; the smallest where the paths' MTUs differ."""
    ports: tuple[HashPort, ...] = ()
    directions: tuple[HashDirection, ...] = ()


class StorageRound(Fact, frozen=True):
    """One pass over the file."""

    round: int
    is_write: bool
    at: float
    seconds: float
    transferred: int
    """Bytes."""
    p50_us: float | None = None
    p99_us: float | None = None
    """Times of single requests."""


class MeasuredStorage(Fact, frozen=True, tag="storage"):
    """`racwire measure storage`."""

    kind: ClassVar[str] = "storage"
    directory: str = ""
    file_system: str = ""
    server: str = ""
    """Where the file system comes from, as /proc/self/mountinfo names it."""
    method: str = ""
    """`O_DIRECT`, or `fsync` where the file system refuses O_DIRECT."""
    request_bytes: int = 0
    rounds: tuple[StorageRound, ...] = ()

    def __post_init__(self) -> None:
        """Keep no percentile of too few requests."""
        for one in self.rounds:
            keep_percentiles(one, one.transferred // max(1, self.request_bytes), p99_us=0.99)


Result = MeasuredSizes | MeasuredRate | MeasuredMix | MeasuredHashes | MeasuredStorage | DrillOf


class Measurement(Fact, frozen=True, omit_defaults=False):
    """One run of `racwire measure` or `racwire drill`, with what it may be judged by. A file has all its fields."""

    cluster: str
    node: str
    """The node that it was started on."""
    started_at: str
    """ISO 8601, with the zone of the node."""
    seconds: float
    racwire_version: str
    paths: tuple[MeasuredPath, ...]
    result: Result
    plan: tuple[str, ...] = ()
    """The lines of the plan that was agreed to."""
    sha256: dict[str, str] = msgspec.field(default_factory=dict)
    """The SHA-256 of the far end's text, by language."""
    seed: int = 0
    """The seed of the random order."""
    although_loaded: str = ""
    """The reason for sending on a loaded cluster."""
    stopped: str = ""
    """Why it ended early, as a sentence; empty where it ended as planned."""
    is_harm: bool = False
    """Whether a sign of harm ended it: exit code 2."""
    disturbed: str = ""
    """Why the figures are not to be trusted, as a sentence: this node itself was late. Empty where they are."""
    blocks_lost: int | Unknown = Unknown("No database was connected, so lost blocks were not counted.")
    """Blocks that the instances lost meanwhile."""
    ended_at: str = ""
    """ISO 8601, with the zone of the node; empty in results of 0.2.0. What was lost holds memory of its receiver for
    net.ipv4.ipfrag_time (30 s) after it."""
    format: int = FORMAT

    @property
    def kind(self) -> str:
        """`sizes`, `rate`, `mix`, `hashes`, `storage` or `drill`."""
        return self.result.kind

    @property
    def times(self) -> tuple[float, float] | None:
        """The start and the end, in seconds since 1970; None for a text that is no time with a zone."""
        try:
            start = datetime.fromisoformat(self.started_at)
            return (start.timestamp(), start.timestamp() + max(0.0, self.seconds)) if start.tzinfo else None
        except (ValueError, OverflowError, OSError):
            return None

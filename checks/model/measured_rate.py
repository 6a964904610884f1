"""The result of `racwire measure rate`: its steps, whose the losses of each are, and what the sockets were given."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from checks.model.facts import Fact


class RateLimit(StrEnum):
    """What sets the rate of the largest step of a measurement."""

    STEP = "step"
    """The step itself: it is below the limits."""
    BITS = "bits"
    """The bits a second: the share of the link, or 1 Gb/s."""
    PACKETS = "packets"
    """The packets a second."""
    PUBLIC = "public"
    """The bits a second on a public network."""


class RateStep(Fact, frozen=True):
    """One step of a stream in one direction."""

    paths: tuple[int, ...]
    """One path, or those of N-1 nodes to one at the same time."""
    protocol: str
    """`tcp` or `udp` (datagrams of 8 KB)."""
    is_towards_here: bool
    """Whether the far ends sent, and this node received."""
    cap_bps: float | None
    """Bits a second of payload that the step was to send; None without a cap."""
    round: int
    at: float
    seconds: float
    sent_bytes: int
    received_bytes: int
    sent: int
    """Datagrams that a kernel took; 0 for tcp."""
    received: int
    refused: int
    """Datagrams that the sender's own queue did not take: not the network's losses."""
    dropped: int
    """Datagrams that the receiver's own full socket dropped: not the network's losses."""
    lost: int
    """Datagrams that the network lost: `sent` is received + dropped + kernel_refused + unsent + unknown + lost."""
    lateness_p99_us: float | None = None
    cpu_here_s: float | None = None
    cpu_there_s: float | None = None
    share: float | None = None
    """The share of the slowest link that the step was to fill, headers included, 0 to 1."""
    kernel_refused: int = 0
    """At most so many the receiver's kernel and its NICs refused, without room for them: not the network's losses. They
    count those of all senders, and fragments singly."""
    unsent: int = 0
    """At most so many the queues and the NICs of the sender dropped, which count those of all programs."""
    unknown: int = 0
    """Datagrams that did not arrive, and are not known to be the network's: a node could not be read, datagrams still
    arrived when they were counted last, or the receiver discarded packets (`discarded`)."""
    discarded: int = 0
    """At most so many of the unknown the receiver's kernel took in and handed to no program: its firewall drops such
    packets. It counts those of all networks of the node."""
    is_receiver_unread: bool = False
    """Whether what the kernel of the receiver counted could not be read."""
    is_sender_unread: bool = False
    """Whether what the queues of a sender counted could not be read."""
    limit: RateLimit = RateLimit.STEP
    """What sets the rate of the largest step of this protocol."""

    @property
    def received_bps(self) -> float:
        """Bits of payload a second that arrived."""
        return self.received_bytes * 8 / self.seconds if self.seconds else 0.0


class SocketBuffers(Fact, frozen=True):
    """The buffers of a socket for datagrams on one node, in bytes."""

    node: str
    asked: int
    received: int
    """Given for receiving; the kernel reports twice as much, and counts its own overhead in it."""
    sent: int
    """Given for sending."""
    rmem_max: int | None = None
    """net.core.rmem_max, the most for receiving; None where it is not known."""


class PublicMtu(Fact, frozen=True):
    """The MTU of a node's interface on the public network."""

    node: str
    mtu: int | None
    """None where it is not known."""


class MeasuredRate(Fact, frozen=True, tag="rate"):
    """`racwire measure rate`."""

    kind: ClassVar[str] = "rate"
    steps: tuple[RateStep, ...] = ()
    buffers: tuple[SocketBuffers, ...] = ()
    public_mtus: tuple[PublicMtu, ...] = ()
    """With --public: of all nodes."""

"""What a load asks of the interconnect, as data: no pass and no fail. `checks.rules.load_of_run` computes it.

All figures are those of an interval between two samples, never since startup. Times in a share are shares of DB time:
the time that sessions spend in database calls, working or waiting.
"""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts import Fact, Unknown


class LoadKind(StrEnum):
    """The kind of a load by what it needs from the interconnect (the classes of HP's paper on TruCluster, 2004)."""

    INDEPENDENT = "independent"
    LATENCY = "latency-bound"
    BANDWIDTH = "bandwidth-bound"
    MESSAGES = "message-bound"
    SCANNING = "scanning"

    @property
    def meaning(self) -> str:
        """What helps such a load, in a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    LoadKind.INDEPENDENT: "It hardly depends on the interconnect: another network changes little.",
    LoadKind.LATENCY: "The time of a single block counts, more than the bytes per second.",
    LoadKind.BANDWIDTH: "The bytes per second count: faster or more links help, and larger packets.",
    LoadKind.MESSAGES: "Small messages count: larger packets do not help them, a shorter round trip does.",
    LoadKind.SCANNING: "Many blocks are read in a row: larger packets and more bytes per second help where they come "
    "from other instances.",
}


class WireTime(Fact, frozen=True, kw_only=True):
    """The part of DB time that a network could at most save."""

    db_time_s: float
    """DB time of all read instances in the interval."""
    cluster_s: float
    """The waits of the class Cluster in the same interval, also those of background processes."""
    low_percent: float
    """The lower limit of the time on the wire, in percent of DB time."""
    high_percent: float
    """The upper limit."""
    likely_percent: float | None = None
    """From the round-trip times of pings, within the limits; None where no ping was measured."""
    faster_percent: float | None = None
    """How much faster a network without any delay would make this load at most; None where the limit is 100 %."""
    formulas: dict[str, str]
    """How each figure is calculated, by its name."""
    inputs: dict[str, str]
    """The measured values, each with its unit."""

    @property
    def cluster_percent(self) -> float:
        """The cluster waits in percent of DB time; more than 100 where background processes wait longer."""
        return 100 * self.cluster_s / self.db_time_s


class LoadClass(Fact, frozen=True):
    """The kind of the load, and why."""

    kind: LoadKind
    reasons: tuple[str, ...]
    """Sentences with the figures and their limits."""


class ExchangeRates(Fact, frozen=True):
    """Blocks and messages of one instance per second, by kind. None is not known."""

    instance: str
    cr_received: float | None = None
    current_received: float | None = None
    cr_served: float | None = None
    current_served: float | None = None
    gcs_sent: float | None = None
    ges_sent: float | None = None
    gcs_received: float | None = None
    ges_received: float | None = None
    px_sent: float | None = None
    """Messages of parallel query to other instances."""
    px_received: float | None = None


class ClientRates(Fact, frozen=True):
    """One user of the interconnect: `cache`, `dlm`, `ipq` (parallel query) and others; all figures per second. None is
    not known."""

    instance: str
    client: str
    sent: float | None
    """Bytes."""
    received: float | None
    messages_sent: float | None = None
    """Blocks of `cache`, messages of the others."""
    messages_received: float | None = None
    is_estimate: bool = False
    """Whether the bytes are messages times a usual size: the instance's own count was not read."""

    @property
    def bytes_per_s(self) -> float | None:
        """The bytes of both directions."""
        return None if self.sent is None or self.received is None else self.sent + self.received

    @property
    def messages_per_s(self) -> float | None:
        """The messages of both directions."""
        sent, received = self.messages_sent, self.messages_received
        return None if sent is None or received is None else sent + received


class ServiceLoad(Fact, frozen=True):
    """One service: how much of its time it waits for other instances."""

    service: str
    instances: tuple[str, ...]
    """The instances on which it works."""
    db_time_s: float
    cluster_percent: float
    """Its cluster waits, in percent of its DB time."""
    gains_on_one_node: bool
    """Whether it works on several instances and waits so long for them that one node would save a part."""


class Weight(StrEnum):
    """How heavy the load of a private link is. No source has a golden number; the limits are ours."""

    HEAVY = "heavy"
    MODERATE = "moderate"
    LIGHT = "light"
    NOT_KNOWN = "cannot tell"


class Queueing(Fact, frozen=True, kw_only=True):
    """Pings in the quietest and in the busiest third of the samples, by the share of the link in use."""

    payload: int
    """Bytes of each ping."""
    samples: int
    """In each third."""
    quiet_percent: float
    """The mean share of the busiest link of the network in that time."""
    busy_percent: float
    quiet_ms: float
    """The median of the samples' medians."""
    busy_ms: float
    quiet_p99_ms: float | None
    """A lower limit: one of a hundred pings took so long or longer. None of fewer than 100 pings."""
    busy_p99_ms: float | None


class LoadWeight(Fact, frozen=True, kw_only=True):
    """How heavy the load is, with the figures that decide."""

    weight: Weight
    by_share: Weight
    """The weight by the share of the link alone."""
    place: str = ""
    """`eth1 of rac2`: the busiest private link; empty where none is known."""
    received_percent: float = 0.0
    """Of the link's speed, on average."""
    sent_percent: float = 0.0
    as_of: str = ""
    """The time of day at the end of the interval."""
    seconds: float = 0.0
    queueing: Queueing | Unknown


class InterconnectLoad(Fact, frozen=True, kw_only=True):
    """What the load of an interval asks of the interconnect."""

    seconds: float
    instances: tuple[str, ...]
    """The instances whose counters were read."""
    missing: dict[str, str]
    """The other instances, with the reason."""
    wire: WireTime | Unknown
    load_class: LoadClass | Unknown
    load_weight: LoadWeight
    exchanges: tuple[ExchangeRates, ...]
    clients: tuple[ClientRates, ...] | Unknown
    """The users of the instances that counted their bytes."""
    services: tuple[ServiceLoad, ...] | Unknown
    force_local: dict[str, str]
    """parallel_force_local of each instance; empty where the parameters were not read."""
    estimated_clients: tuple[ClientRates, ...] = ()
    """The users of the other instances."""
    block_bytes: int | None = None
    """The size of a block in an estimate; None where it is not known."""

    @property
    def users(self) -> tuple[ClientRates, ...]:
        """The users of all instances."""
        return (*(() if isinstance(self.clients, Unknown) else self.clients), *self.estimated_clients)

"""What a measurement will send, before it sends anything; and the consent to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from checks.measure.load_limits import FragmentRoom, LoadLimits
from checks.measure.measure_error import MeasureError
from checks.model.facts import Unknown
from checks.model.fragment_memory import FRAGMENT_SHARE
from checks.model.measured_rate import RateLimit
from checks.model.measurement import MeasuredPath
from checks.model.packet_sizes import USUAL_BLOCK_BYTES, fragments_of, wire_bytes_of
from checks.model.wording import lasting, listed

NO_DATABASE = Unknown("no database is connected")


@dataclass(frozen=True, slots=True)
class RateBinding:
    """What sets the rate of the largest step of a protocol."""

    protocol: str
    """`tcp` or `udp` (datagrams of 8 KB)."""
    limit: RateLimit
    bits_per_s: float
    """What is sent at most, on the wire."""
    bits_cap: float
    """The limit of bits a second; that of a public network where it is less."""
    packets_per_s: float
    packets_cap: float
    """What the limit of packets a second is in bits a second."""
    speed_bps: float
    """Of the slowest link."""

    def text(self) -> str:
        """Return it as a sentence, with both limits: the one that is reached first, and the other one."""
        what = "TCP segments" if self.protocol == "tcp" else "Datagrams of 8 KB"
        bits = f"{_rate(self.bits_cap)}" + (" on a public network" if self.limit is RateLimit.PUBLIC else "")
        packets = f"{self.packets_per_s:,.0f} packets/s"
        share = f"{self.bits_per_s / self.speed_bps * 100:.2g} % of the link"
        if self.limit is RateLimit.PACKETS:
            return (
                f"{what}: the limit of {packets} is reached first, at {_rate(self.bits_per_s)}, {share}; that of bits "
                f"is {bits}. More: --packets."
            )
        if self.limit is RateLimit.STEP:
            return (
                f"{what}: up to {_rate(self.bits_per_s)}, {share}, below both limits: {bits}, and {packets}, which "
                f"are {_rate(self.packets_cap)}."
            )
        more = "" if self.limit is RateLimit.PUBLIC else " More: --share."
        return f"{what}: the limit of {bits} is reached first, {share}; {packets} are {_rate(self.packets_cap)}.{more}"


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    """What an experiment sends on one path at most, both ways together."""

    title: str
    """What it does, as a clause: `11 sizes, 8 rounds of 1 s each, in random order`."""
    seconds: float
    """On all paths, one after the other."""
    packets: int
    """In all, both ways."""
    wire_bytes: int
    """In all, both ways, with all headers."""
    peak_packets_per_s: float
    """From this node."""
    peak_bps: float
    """On a path, one way."""
    notes: tuple[str, ...] = ()
    """Sentences of the plan that only this kind of measurement has."""
    bindings: tuple[RateBinding, ...] = ()
    """Of `rate`: which limit is reached first."""
    most_incomplete_bytes: int = 0
    """The memory for reassembly that its largest message, or train of them, holds at a receiver while it is incomplete;
    0 where it sends nothing in fragments."""
    stops: str = (
        "It stops at the first lost block, failed reassembly, drop or error of a node, at three unanswered messages in "
        "a row, where its own datagrams are lost, where a path is silent for a tenth of misscount, where a CPU limit "
        "is reached, at Ctrl-C and at the key s."
    )
    """What ends it, as a sentence."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """The plan of one run."""

    cluster: str
    kind: str
    paths: tuple[MeasuredPath, ...]
    load: PlannedLoad
    limits: LoadLimits
    blocks_per_s: float | Unknown = NO_DATABASE
    """Blocks that all instances together receive now; Unknown with a clause."""
    lock_holders: Mapping[str, str] = field(default_factory=dict)
    """The interpreter on each peer where a far end only holds the lock; empty where there is none."""
    rooms: Mapping[str, FragmentRoom] = field(default_factory=dict)
    """What incomplete datagrams may hold at each node."""

    def lines(self) -> Iterator[str]:
        """Yield the sentences of the plan."""
        load = self.load
        yield f"{self.kind}: {load.title}."
        yield from load.notes
        yield from (binding.text() for binding in load.bindings)
        if self.paths:
            yield from self._on_paths()
        else:
            yield f"It takes up to {lasting(math.ceil(load.seconds))}."
            yield (
                "It stops at the first lost block, failed reassembly, drop or error of a node, where a CPU limit is "
                "reached, where the storage does not answer for 5 s, at Ctrl-C and at the key s. Nothing is installed."
            )

    def _on_paths(self) -> Iterator[str]:
        load = self.load
        for network in dict.fromkeys(path.network for path in self.paths):
            peers = [path for path in self.paths if path.network == network]
            each = listed(f"{path.target_node} ({path.target}, {_far_end(path)})" for path in peers)
            yield f"On {network} from {peers[0].source_node} ({peers[0].source}, MTU {peers[0].mtu}) to {each}."
        yield (
            f"It takes up to {lasting(math.ceil(load.seconds))}, and sends up to {load.packets:,} packets and "
            f"{_bytes(load.wire_bytes)} in all, answers included."
        )
        yield f"At most {load.peak_packets_per_s:,.0f} packets/s and {_rate(load.peak_bps)} on a path: {self._share()}."
        if load.most_incomplete_bytes and self.rooms:
            yield (
                "It sends messages in fragments: those without an answer may hold at most "
                f"{min(room.most_bytes for room in self.rooms.values()) // 1024:,} KB of a node's memory for "
                f"reassembly ({FRAGMENT_SHARE * 100:.0f} %) at a time. A few go first, one by one: none may be lost."
            )
        mtu = min(path.mtu for path in self.paths)
        blocks = min(
            load.peak_bps / 8 / wire_bytes_of(USUAL_BLOCK_BYTES, mtu),
            load.peak_packets_per_s / fragments_of(USUAL_BLOCK_BYTES, mtu),
        )
        now = (
            f"how many the instances exchange now is not known: {self.blocks_per_s.reason}"
            if isinstance(self.blocks_per_s, Unknown)
            else f"the instances now exchange {self.blocks_per_s:,.0f} blocks/s"
        )
        yield f"At its peak this is as much as {blocks:,.0f} blocks of 8 KB a second; {now}."
        yield f"{load.stops} Nothing is installed, and no file is written on a peer."
        for program in dict.fromkeys(self.lock_holders.values()):
            nodes = listed(node for node, one in self.lock_holders.items() if one == program)
            yield (
                f"On {nodes}, {program} holds a lock, so that no second measurement starts there; it answers nothing."
                if program
                else f"No lock is held on {nodes}, without Perl or Python: see that no other person measures."
            )

    def _share(self) -> str:
        shares = [self.load.peak_bps / (path.speed_mbps * 1e6) for path in self.paths if path.speed_mbps]
        if not shares:
            return "the speed of these links is not known"
        share = max(shares)
        return f"{share * 100:.1f} % of the slowest link" if share >= 0.001 else "less than 0.1 % of the slowest link"


@dataclass(frozen=True, slots=True)
class Consent:
    """The consent to a plan. Only `agree` makes one."""

    plan: LoadPlan
    typed: str


def agree(plan: LoadPlan, typed: str) -> Consent:
    """Return the consent to a plan. Raises MeasureError unless the name of the cluster was typed."""
    if not plan.cluster:
        raise MeasureError(
            "The name of this cluster is not known, so it cannot be typed: name the Grid home with --grid-home, or, "
            "while Clusterware is down, the cluster in the settings (`name` under [cluster])."
        )
    if typed != plan.cluster:
        raise MeasureError(f"This cluster is called {plan.cluster}, not {typed}: nothing was sent.")
    return Consent(plan, typed)


def _far_end(path: MeasuredPath) -> str:
    return "answered by its kernel" if path.far_end == "kernel" else f"answered by {path.program}"


def _bytes(number: int) -> str:
    return (
        f"{number / 1e9:,.1f} GB"
        if number >= 1e9
        else f"{number / 1e6:,.1f} MB"
        if number >= 1e6
        else f"{number / 1e3:,.0f} kB"
    )


def _rate(bps: float) -> str:
    return f"{bps / 1e9:,.2f} Gb/s" if bps >= 1e9 else f"{bps / 1e6:,.1f} Mb/s"

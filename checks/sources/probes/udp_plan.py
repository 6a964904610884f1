"""The datagrams of a path: ports and times, the words of the sender, and what its lines and the nodes' tables say.

Pure functions. A kernel answers datagrams to closed ports with "port unreachable", about six at once and then one a
second for each sender (net.ipv4.icmp_ratelimit; Linux net/ipv4/icmp.c, inet_peer_xrlim_allow), so datagrams are paced.
One of a block's size that does not arrive whole holds memory of its receiver for net.ipv4.ipfrag_time, which the
database shares (Linux net/ipv4/inet_fragment.c), so few of them may be without an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from checks.model.facts import FlowPort, OtherSender
from checks.model.fragment_memory import FRAGMENT_SHARE, LEAST_FRAGMENT_BYTES
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, SMALL_PAYLOAD, USUAL_BLOCK_BYTES, packet_of
from checks.sources.kernel_files import CLOSED_PORTS
from checks.sources.nodes.proc import snmp_total
from checks.sources.probes.path import Path
from checks.sources.probes.udp_sender import SLOW_MS, record_of

USUAL_PORTS = 12
"""Most source ports of a path, and so datagrams where all are answered, unless the operator requests more."""
AT_ONCE = 5
"""Datagrams sent one after the other at the end: one fewer than a kernel answers at once."""
APART_MS = 25
"""Between these."""
ANSWER_MS = 1_000
WAIT_MS = 30_000
"""The most time that a run waits on a node for who holds the lock of senders; twice as long for a racwire that shows
life."""
AGE_MS = 60_000
"""The greatest age of results of another racwire that are used."""
FRAGMENTED = 3
"""Datagrams of a block's size in fragments, where the MTU is smaller than a block."""
DOUBTS = 6
"""Most source ports without an answer that are examined with more datagrams."""
CONTROLS = 3
"""Most source ports with an answer that send a second time while others are examined."""
DOUBTS_OF_ALL = 3
"""Source ports that are examined where none has an answer."""
BLOCK_PAYLOAD = USUAL_BLOCK_BYTES + BLOCK_HEADER_BYTES
INCOMPLETE_BYTES = 12 * 1024
"""Memory of a receiver that a datagram of a block's size holds while some of its fragments are missing."""


@dataclass(frozen=True, slots=True)
class Datagram:
    """A datagram of the plan."""

    at_ms: int
    slot: int
    source_port: int
    payload: int
    whole: bool | int
    """Whether Don't Fragment is set; `udp_sender.COUNTED` for that without waiting for an answer."""


def ports_within(interval_s: float, most: int = USUAL_PORTS) -> int:
    """Return the number of source ports whose datagrams can be sent within the interval of a check.

    More than the usual number were requested, and prolong the check.
    """
    if most > USUAL_PORTS:
        return most
    later = int((interval_s - 1) * 1000 // SLOW_MS)
    return max(AT_ONCE + 1, min(most, AT_ONCE + later))


def is_cut(path: Path) -> bool:
    """Return whether the path's MTU is smaller than a block of 8 KB, so that blocks travel in fragments."""
    return packet_of(BLOCK_PAYLOAD, path.version) > path.mtu


def first_datagrams(path: Path, ports: int) -> list[Datagram]:
    """Return one large datagram for each source port: full-size, and the last ones a block where blocks are cut."""
    whole = ports - (FRAGMENTED if is_cut(path) and ports > FRAGMENTED else 0)
    # Those at once come last, where the others lost none: a burst displaces blocks where a network limits rates.
    return [
        Datagram(
            slot * APART_MS + (ports - AT_ONCE) * SLOW_MS if slot < AT_ONCE else (slot - AT_ONCE) * SLOW_MS,
            slot, 0, path.full_payload if slot < whole else BLOCK_PAYLOAD, slot < whole,
        )
        for slot in range(ports)
    ]  # fmt: skip


def later_datagrams(path: Path, ports: Sequence[FlowPort]) -> list[Datagram]:
    """Return the datagrams that examine ports without an answer: a small one, then large ones, each a second apart.

    A port that sent a block in fragments also sends a full-size datagram in one packet. Ports with an answer send once
    more in between: one that then loses is no port of a good link.
    """
    at_ms, planned = SLOW_MS, list[Datagram]()
    controls = iter([slot for slot, port in enumerate(ports) if port.whole and port.answered][:CONTROLS])
    for slot in doubtful(ports):
        port = ports[slot]
        sizes = [(SMALL_PAYLOAD, True), (port.payload, port.whole), (port.payload, port.whole)]
        if not port.whole:
            sizes.insert(1, (path.full_payload, True))
        for payload, whole in sizes:
            planned.append(Datagram(at_ms, slot, port.source_port, payload, whole))
            at_ms += SLOW_MS
        if (control := next(controls, None)) is not None:
            planned.append(Datagram(at_ms, control, ports[control].source_port, path.full_payload, True))
            at_ms += SLOW_MS
    return planned


def doubtful(ports: Sequence[FlowPort]) -> list[int]:
    """Return the slots to examine: those without an answer, at most DOUBTS; a few where no port has one."""
    silent = [slot for slot, port in enumerate(ports) if is_silent(port)]
    if not any(port.sent and not port.whole for port in ports):
        silent += [slot for slot, port in enumerate(ports) if port.held]
    cut = [slot for slot in silent if not ports[slot].whole]
    whole = [slot for slot in silent if ports[slot].whole]
    most = DOUBTS_OF_ALL if len(silent) == len(ports) else DOUBTS
    return sorted([*whole[: most - min(len(cut), 2)], *cut[:2]])


def is_silent(port: FlowPort) -> bool:
    """Return whether the first datagram of a port got no answer and no error."""
    return port.sent > 0 and not port.answered and not port.prohibited_by and not port.error


@dataclass(frozen=True, slots=True)
class Receiver:
    """The receiving node of a path, as its sender sees it."""

    number: int
    most_incomplete: int
    """Datagrams in fragments that may be without an answer, from this sender on all paths to the receiver."""
    no_ports: int | None
    """Its Udp.NoPorts before; None where not known."""


def word(path: Path, port: int, datagrams: Sequence[Datagram], receiver: Receiver, offset_ms: int = 0) -> str:
    """Return the word of the sender's command line for these datagrams of a path."""
    planned = "/".join(f"{d.at_ms + offset_ms}:{d.slot}:{d.source_port}:{d.payload}:{int(d.whole)}" for d in datagrams)
    counted = "" if receiver.no_ports is None else receiver.no_ports
    end = f"{receiver.number}:{receiver.most_incomplete}:{counted}"
    return f"{path.source.ip},{path.destination.ip},{port},{planned},{end}"


def shares(room: int, senders: Sequence[str], nodes: Sequence[str], receiver: str) -> dict[str, int]:
    """Return how many of `room` incomplete datagrams to a receiver each sender may have.

    Where there are more senders than room, those after the receiver in the order of the nodes have one, so that each
    node sends to some receivers and receives from some senders.
    """
    if room >= len(senders):
        return {sender: room // max(1, len(senders)) for sender in senders}
    place = nodes.index(receiver)
    order = sorted(senders, key=lambda sender: (nodes.index(sender) - place) % len(nodes))
    return {sender: int(number < room) for number, sender in enumerate(order)}


@dataclass(frozen=True, slots=True)
class DatagramAnswer:
    """A line of the sender."""

    path: int
    slot: int
    source_port: int
    payload: int
    what: str
    sender: str

    @property
    def line(self) -> str:
        """The line."""
        return f"{self.path} {self.slot} {self.source_port} {self.payload} {self.what} {self.sender or '-'}"

    @property
    def is_unsent(self) -> bool:
        """Whether the datagram was not sent: the kernel refused it, or it was held back, or not needed."""
        return self.what in (HELD, NOT_NEEDED) or self.what.startswith("unsent:")


HELD = "held"
"""The answer of a datagram in fragments that was not sent, since others without an answer hold the memory."""
NOT_NEEDED = "enough"
"""The answer of a datagram that was not sent, since others of its path were lost and answered: these are examined."""


@dataclass(frozen=True, slots=True)
class UsedRun:
    """A line of the sender: another racwire had the results of a path."""

    path: int
    pid: int
    age_ms: int
    no_ports: int | None
    """The receiver's Udp.NoPorts before that run; None where not known."""


def parse_began(text: str) -> float | None:
    """Parse the start of a run in the sender's output, in seconds of its node's clock; None where it did not start."""
    found = re.search(r"^start (\d{1,15})$", text, re.ASCII | re.MULTILINE)
    return int(found[1]) / 1000 if found else None


def record(began_s: float, words: Sequence[str], answers: Iterable[DatagramAnswer]) -> str:
    """Return a run of the sender as a word for a later run of the same racwire, which hands it to others."""
    made: str = record_of(began_s, words, [answer.line for answer in answers])  # type: ignore[no-untyped-call]
    return made


_USED = re.compile(r"used (\d{1,6}) (\d{1,10}) (\d{1,9}) (\d{1,18}|-)", re.ASCII)
_WAITED = re.compile(r"waited (\d{1,10}) (\d{1,9}) (ended|held)", re.ASCII)


def parse_used(text: str) -> list[UsedRun]:
    """Parse the lines about results of other racwires in the sender's output."""
    found = (_USED.fullmatch(line.strip()) for line in text.splitlines())
    return [UsedRun(int(m[1]), int(m[2]), int(m[3]), None if m[4] == "-" else int(m[4])) for m in found if m]


def parse_others(text: str, node: str) -> tuple[OtherSender, ...]:
    """Parse who else sent from a node: the processes whose results were used, and the one that was waited for."""
    ages = {used.pid: used.age_ms for used in parse_used(text)}
    others = [OtherSender(node, pid, age_s=round(age_ms / 1000, 1)) for pid, age_ms in ages.items()]
    waits = (_WAITED.fullmatch(line.strip()) for line in text.splitlines())
    others += [OtherSender(node, int(m[1]), waited_s=int(m[2]) / 1000, is_still=m[3] == "held") for m in waits if m]
    return tuple(others)


_LINE = re.compile(r"(\d{1,6}) (\d{1,3}) (\d{1,5}) (\d{1,6}) ([A-Za-z0-9?:]{1,40}) ([0-9A-Fa-f.:]{2,45}|-)", re.ASCII)


def parse_answers(text: str) -> list[DatagramAnswer]:
    """Parse the sender's output; lines of another form are left out."""
    found = (_LINE.fullmatch(line.strip()) for line in text.splitlines())
    return [
        DatagramAnswer(int(m[1]), int(m[2]), int(m[3]), int(m[4]), m[5], "" if m[6] == "-" else m[6])
        for m in found
        if m
    ]


def parse_first_answers(text: str) -> list[DatagramAnswer]:
    """Parse what another racwire got at first on the paths whose results this one took whole."""
    return parse_answers("\n".join(line[6:] for line in text.splitlines() if line.startswith("first ")))


def first_ports(datagrams: Sequence[Datagram], answers: Iterable[DatagramAnswer]) -> tuple[FlowPort, ...]:
    """Return the ports after their first datagram, in the order of their slots."""
    by_slot = {answer.slot: answer for answer in answers}
    return tuple(_port(planned, by_slot.get(planned.slot)) for planned in datagrams)


def _port(planned: Datagram, answer: DatagramAnswer | None) -> FlowPort:
    if answer is None:
        return FlowPort(0, planned.payload, bool(planned.whole), sent=0, error="no result")
    unsent = answer.is_unsent
    known = ("refused", "silence", "prohibited", HELD, NOT_NEEDED)
    error = answer.what.removeprefix("unsent:") if answer.what not in known else ""
    return FlowPort(
        answer.source_port,
        planned.payload,
        bool(planned.whole),
        sent=0 if unsent else 1,
        answered=int(answer.what == "refused"),
        prohibited_by=(answer.sender or "?") if answer.what == "prohibited" else "",
        error=error,
        held=int(answer.what == HELD),
    )


def with_later(port: FlowPort, answers: Iterable[DatagramAnswer], *, full_payload: int) -> FlowPort:
    """Return a port with the results of its later datagrams. A datagram that was not sent does not count."""
    counts = {"sent": port.sent, "answered": port.answered, "small_sent": 0, "small_answered": 0}
    counts |= {"full_sent": 0, "full_answered": 0, "held": port.held}
    source_port = port.source_port
    for answer in answers:
        source_port = source_port or answer.source_port
        counts["held"] += answer.what == HELD
        if answer.what not in ("refused", "silence"):
            continue
        prefix = ""
        if answer.payload == SMALL_PAYLOAD:
            prefix = "small_"
        elif not port.whole and answer.payload == full_payload:
            prefix = "full_"
        counts[f"{prefix}sent"] += 1
        counts[f"{prefix}answered"] += answer.what == "refused"
    late = port.sent > port.answered == 0 < counts["answered"]
    return msgspec.structs.replace(port, **counts, source_port=source_port, late=late)


# --- the nodes --------------------------------------------------------------------------------------------------------

_PYTHON = re.compile(r"(?:/usr)?/s?bin/(python[23]?)|(/usr/libexec/platform-python)")


@dataclass(frozen=True, slots=True)
class UdpEnds:
    """What a node can send with, and its ports, just before datagrams are sent."""

    python: str = ""
    """The command of its Python; empty where it has none in the usual places."""
    lowest_local: int = 0
    """The first port of net.ipv4.ip_local_port_range; 0 where it is not known."""
    taken: frozenset[int] = frozenset()
    """The ports of sockets, of /etc/services and of ip_local_reserved_ports."""
    tables_read: bool = False
    no_ports: int | None = None
    """Udp.NoPorts of IPv4 and IPv6 together; None where it is not known."""
    reassembly_bytes: int = LEAST_FRAGMENT_BYTES
    """The memory for reassembly: the smaller one of net.ipv4.ipfrag_high_thresh and net.ipv6.ip6frag_high_thresh."""
    reassembling_bytes: int | None = None
    """How much of this memory is in use (FRAG of /proc/net/sockstat and sockstat6); None where it is not known."""


def parse_ends(text: str) -> UdpEnds:
    """Parse the output of the program UDP_ENDS."""
    python, lowest, taken, tables = "", 0, set[int](), False
    for line in text.splitlines():
        name, _, value = line.partition(": ")
        if (found := _PYTHON.fullmatch(line.strip())) and not python:
            python = found[1] or found[2]
        elif name == "socket" and re.fullmatch(r"[0-9A-Fa-f]{4}", value):
            taken.add(int(value, 16))
        elif name == "table":
            tables = True
        elif name == "service" and (numbers := re.findall(r"\s(\d{1,5})/udp", value, re.ASCII)):
            taken.update(map(int, numbers))
        elif name == "range" and (bounds := re.fullmatch(r"(\d{1,5})\s+(\d{1,5})", value.strip(), re.ASCII)):
            lowest = int(bounds[1])
        elif name == "reserved":
            taken |= _ports_in(value)
    limits = [int(n) for n in re.findall(r"^most6?: (\d{1,18})$", text, re.ASCII | re.MULTILINE)]
    used = [int(n) for n in re.findall(r"^FRAG6?: inuse \d+ memory (\d{1,18})$", text, re.ASCII | re.MULTILINE)]
    memory = min(limits, default=LEAST_FRAGMENT_BYTES), max(used) if used else None
    return UdpEnds(python, lowest, frozenset(taken), tables, snmp_total(text, "Udp", "NoPorts"), *memory)


def room_for_fragments(ends: UdpEnds, unanswered: int = 0) -> int:
    """Return how many datagrams of a block's size to a node may be incomplete, with what is in its memory already.

    `unanswered` of this run count where the node does not tell how much of the memory is in use.
    """
    used = unanswered * INCOMPLETE_BYTES if ends.reassembling_bytes is None else ends.reassembling_bytes
    return max(0, int(ends.reassembly_bytes * FRAGMENT_SHARE) - used) // INCOMPLETE_BYTES


def _ports_in(text: str) -> set[int]:
    """Return the candidates in a list such as `1521,3872,8800-8900`."""
    spans = [(int(a), int(b or a)) for a, b in re.findall(r"(\d{1,5})(?:-(\d{1,5}))?", text, re.ASCII)]
    return {port for port in CLOSED_PORTS for low, high in spans if low <= port <= high}


def closed_port(ends: UdpEnds) -> int | str:
    """Return a port of a node that no socket and no service has, or why there is none."""
    if not ends.tables_read:
        return "its tables of UDP sockets could not be read"
    if not ends.lowest_local:
        return "its net.ipv4.ip_local_port_range could not be read"
    free = [p for p in CLOSED_PORTS if 1023 < p < ends.lowest_local and p not in ends.taken]
    return free[0] if free else f"each candidate port is in use, or not below {ends.lowest_local}"

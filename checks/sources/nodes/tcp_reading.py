"""Read the TCP connections at the private addresses of a node, twice: the growth of their bytes by address and port."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import PrivateTcp, TcpFlow, Unknown
from checks.sources.host_sections import SERVICES
from checks.sources.nodes.sections import sections
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.sources.nodes.socket_text import Socket, parse_sockets
from checks.sources.private_connections import HEADING, MOST_CONNECTIONS, PRIVATE_TCP


@dataclass(frozen=True)
class TcpReading:
    """The connections at one moment."""

    sockets: tuple[Socket, ...]
    is_cut: bool = False
    at_s: float = 0.0
    """The time of the reading in seconds, of a clock that does not jump."""


async def ask_private_tcp(session: Session, node: str, addresses: Sequence[str]) -> TcpReading | Unknown:
    """Read the connections of a node through its shell; Unknown where the node fails: the counters do not depend on
    it."""
    if not addresses:
        return Unknown("The private addresses of the node are not known.")
    (topic,) = PRIVATE_TCP.topics
    limit_s = max(session.settings.ssh.read_timeout_s, PRIVATE_TCP.limit_s or 0)
    try:
        shell = await session.shell(node)
        with session.journal.entry(node, topic, PRIVATE_TCP.action_on(*addresses)) as entry:
            entry.text = (await shell.run(PRIVATE_TCP, *addresses, timeout_s=limit_s)).text
            at_s = time.monotonic()
            reading = parse_private_tcp(entry.text, at_s)
            if isinstance(reading, Unknown):
                entry.outcome = reading.reason
            return reading
    except ShellError as error:
        return Unknown(str(error), error.right)


def parse_private_tcp(text: str, at_s: float = 0.0) -> TcpReading | Unknown:
    """Parse the output of the program `private connections`."""
    (printed, *_) = (*(part.text for part in sections(text).values()), "")
    if not printed.lstrip().startswith(HEADING):
        return Unknown("The node has no ss that lists its TCP connections.")
    found = parse_sockets(printed)
    if found and not any("bytes_received" in one.values or "bytes_acked" in one.values for one in found):
        return Unknown("The ss of the node does not show the bytes of connections.")
    return TcpReading(found, len(found) >= MOST_CONNECTIONS, at_s)


def private_tcp(before: TcpReading | Unknown, after: TcpReading | Unknown) -> PrivateTcp | Unknown:
    """Return what the connections of the second reading moved since the first. A connection that the first lacks was
    opened meanwhile: all its bytes count, unless the first reading was cut."""
    if isinstance(before, Unknown):
        return before
    if isinstance(after, Unknown):
        return after
    old = {(one.local, one.remote): one.values for one in before.sockets}
    own = {one.local[0] for one in after.sockets}
    moved: dict[tuple[str, str, int, bool], list[Mapping[str, int]]] = {}
    for one in after.sockets:
        then = old.get((one.local, one.remote), None if before.is_cut else {})
        if then is None or one.remote[0] in own:
            continue
        # A new connection may use the port of an old one: then its counts are smaller.
        counts = {name: one.values.get(name, 0) for name in _COUNTED}
        fell = any(counts[name] < then.get(name, 0) for name in _COUNTED)
        grown = counts if fell else {name: counts[name] - then.get(name, 0) for name in _COUNTED}
        port, is_own = _service_port(one)
        moved.setdefault((one.local[0], one.remote[0], port, is_own), []).append(grown)
    flows = [
        TcpFlow(
            local, remote, port, is_own, SERVICES.get(port, ""), len(all_),
            received_bytes=_sum(all_, "bytes_received"), sent_bytes=sum(_sent(one) for one in all_),
            received_packets=_sum(all_, "segs_in"), sent_packets=_sum(all_, "segs_out"),
        )
        for (local, remote, port, is_own), all_ in moved.items()
    ]  # fmt: skip
    flows = [flow for flow in flows if flow.received_bytes or flow.sent_bytes]
    flows.sort(key=lambda flow: (-flow.received_bytes - flow.sent_bytes, flow.remote_ip, flow.port))
    return PrivateTcp(round(after.at_s - before.at_s, 3), tuple(flows), before.is_cut or after.is_cut)


_COUNTED = ("bytes_received", "bytes_sent", "bytes_acked", "segs_in", "segs_out")


def _sent(grown: Mapping[str, int]) -> int:
    """Bytes that were sent, those sent again included; older kernels have only those that were acknowledged."""
    return grown["bytes_sent"] or grown["bytes_acked"]


def _sum(all_: Sequence[Mapping[str, int]], name: str) -> int:
    return sum(one[name] for one in all_)


def _service_port(one: Socket) -> tuple[int, bool]:
    ends = ((one.remote[1], False), (one.local[1], True))
    return next((end for end in ends if end[0] in SERVICES), min(ends))

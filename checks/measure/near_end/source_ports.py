"""Full-size datagrams from many source ports: a switch chooses the member of a LAG by the ports of a datagram."""

from __future__ import annotations

import select
import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from typing import Any

from checks.measure.near_end.control import Budget
from checks.measure.near_end.messages import ACKNOWLEDGE, HEADER, LEAST_BYTES, PULL, udp_socket
from checks.measure.near_end.stopped import StoppedError

_MTU_DISCOVER, _PROBE = 10, 3
"""IP_MTU_DISCOVER and IP_PMTUDISC_PROBE: set Don't Fragment, and ignore a path MTU that the kernel remembers."""
_ANSWER_S = 0.5
"""Seconds that an answer has to arrive."""
_APART_S = 0.0005


@dataclass
class _Port:
    source_port: int
    sent: int = 0
    answered: int = 0
    small_sent: int = 0
    small_answered: int = 0


def source_ports(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Send `rounds` full-size datagrams from each of `ports` source ports, and small ones from those without an answer.

    With `is_towards_here`, a small request asks for each full-size datagram, which comes back with the ports reversed.
    The result has the counts of each port, the datagrams sent in all, and `stopped`.
    """
    found: list[_Port] = []
    stopped = ""
    budget.bits_per_s = order["bits_per_s"]
    token, back = bytes.fromhex(order["token"]), order["is_towards_here"]
    with ExitStack() as stack:
        sockets = []
        for _ in range(order["ports"]):
            one = stack.enter_context(udp_socket(order["source"], order["target"], order["port"]))
            one.setsockopt(socket.IPPROTO_IP, _MTU_DISCOVER, _PROBE)
            sockets.append(one)
            found.append(_Port(one.getsockname()[1]))
        try:
            for number in range(order["rounds"]):
                large = HEADER.pack(PULL if back else ACKNOWLEDGE, 1, _sequence(number), token, order["size"])
                data = large if back else large.ljust(order["size"], b"\0")
                went, came = _round(sockets, data, order["size"] if back else LEAST_BYTES, number, order, budget)
                for place in went:
                    found[place].sent += 1
                for place in came:
                    found[place].answered += 1
            silent = [place for place, port in enumerate(found) if not port.answered]
            for number in range(order["rounds"], order["rounds"] + 2):
                if not silent:
                    break
                data = HEADER.pack(ACKNOWLEDGE, 1, _sequence(number), token, LEAST_BYTES)
                chosen = [sockets[place] for place in silent]
                went, came = _round(chosen, data, LEAST_BYTES, number, order, budget)
                for place in went:
                    found[silent[place]].small_sent += 1
                for place in came:
                    found[silent[place]].small_answered += 1
        except StoppedError as error:
            stopped = str(error)
    return {"ports": [asdict(port) for port in found], "stopped": stopped}


def _round(
    sockets: list[socket.socket],
    data: bytes,
    answer_bytes: int,
    number: int,
    order: dict[str, Any],
    budget: Budget,
) -> tuple[set[int], set[int]]:
    """Send one datagram from each socket; return the places of those that the kernel took, and of those answered."""
    places = {one.fileno(): place for place, one in enumerate(sockets)}
    went, answered = set[int](), set[int]()
    for place, one in enumerate(sockets):
        budget.take(2, order["wire_bytes"])
        with suppress(OSError):  # a full queue of this node, or an ICMP error of an earlier datagram
            one.send(data)
            went.add(place)
        budget.orders.wait(_APART_S)
    until = time.monotonic() + _ANSWER_S
    while len(answered) < len(went) and (left := until - time.monotonic()) > 0:
        budget.orders.look()
        for one in select.select(sockets, [], [], min(left, 0.02))[0]:
            try:
                answer = one.recv(70_000, socket.MSG_DONTWAIT)
            except OSError:  # an ICMP error: no answer follows
                continue
            if len(answer) == answer_bytes and answer[4:8] == _sequence(number):
                answered.add(places[one.fileno()])
    return went, answered


def _sequence(number: int) -> bytes:
    return number.to_bytes(4, "big")

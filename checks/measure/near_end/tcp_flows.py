"""Flows over TCP to and from far ends, of several classes at the same time.

A flow to a far end is a header of 16 bytes and its data; the far end answers with 8 bytes when all has arrived. A flow
from a far end is one request a burst, and its data. The completion time runs from the first byte that this node sends
until the last byte that it receives.
"""

from __future__ import annotations

import random
import select
import socket
import struct
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from checks.measure.near_end.control import Budget
from checks.measure.near_end.stopped import StoppedError
from checks.model.flow_bound import FlowBound
from checks.model.packet_sizes import IP_HEADER, WIRE_BYTES

_HEADER = struct.Struct("!B3xIQ")
_TO_FAR_END, _FROM_FAR_END = 0, 1
_ANSWER_BYTES = 8
_TCP_HEADER = 32
"""With the timestamps that Linux sends in each segment."""
_OWN_PACKETS = 2
"""Acknowledgements of the answer, and of what comes with it."""
_CONNECTION_PACKETS, _CONNECTION_BYTES = 5, 500
"""To open and to close a connection, and for the token."""
_CONNECT_S, _CONNECT_AGAIN_S = 1.0, 0.2
PATIENCE_S = 3.0
"""Seconds without progress after which a flow counts as broken."""
MOST_BROKEN = 3
"""Flows in a row that break, after which the run ends: a sign of harm."""
_BUFFER = 1 << 20
_CREDIT_S = 0.1
"""How far the bursts of a large flow may fall behind and still make up for it."""
_LONGEST_WAIT_S = 0.02


def packets_of_flow(size: int, mtu: int) -> int:
    """Return the IP packets of a burst of a flow from its sender, with those that acknowledge its answer."""
    return max(1, -(-size // (mtu - IP_HEADER[4] - _TCP_HEADER))) + _OWN_PACKETS


def wire_bytes_of_flow(size: int, mtu: int) -> int:
    """Return the bytes on the wire of a burst of a flow, in its direction, with all headers."""
    return size + packets_of_flow(size, mtu) * (IP_HEADER[4] + _TCP_HEADER + WIRE_BYTES)


def needed_s(size: int, mtu: int, bits_per_s: float, packets_per_s: float) -> float:
    """Return the seconds that a burst of a flow needs at these limits."""
    return max(wire_bytes_of_flow(size, mtu) * 8 / bits_per_s, packets_of_flow(size, mtu) / packets_per_s)


def tcp_connection(order: dict[str, Any], patience_s: float, send_buffer: int = 0) -> socket.socket:
    """Return a connection to the far end of an order that has shown the token. Raises OSError."""
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if send_buffer:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        one.settimeout(patience_s)
        one.bind((order["source"], 0))
        one.connect((order["target"], order["tcp_port"]))
        one.sendall(bytes.fromhex(order["token"]))
    except OSError:
        one.close()
        raise
    return one


class _Lane:
    """One connection, on which flows of one class follow each other."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.name: str = order["name"]
        self.size: int = order["size"]
        self.is_from_far_end: bool = order["is_from_far_end"]
        self.burst: int = min(order["burst"], self.size)
        self.gap_s: float = order["gap_s"]
        """Seconds from the start of a flow to that of the next; of bursts, where a flow is longer than a burst."""
        self.pause_s: float = order["pause_s"]
        """The least time from the end of a flow to the start of the next."""
        self.flows_left: int = order["flows"]
        """Flows to come; -1 for as many as the time allows."""
        self.packets = packets_of_flow(self.burst, order["mtu"])
        self.wire_bytes = wire_bytes_of_flow(self.burst, order["mtu"])
        self._order = order
        self._socket: socket.socket | None = None
        self.due_s = self._look_s = 0.0
        """When the next burst is due by its pace, and from when on the limits have room for it."""
        self._free_s = 0.0
        """When the connection was ready for it."""
        self._held_s: defaultdict[str, float] = defaultdict(float)
        """Seconds by which the limits delayed it, by what did."""
        self.held_bytes: defaultdict[str, float] = defaultdict(float)
        """What the lane had sent by its pace and did not, by `FlowBound`."""
        self.is_under_way = False
        self.started_s = self.progress_s = 0.0
        self._number = 0
        self._unasked = 0
        """Bytes of the flow that no burst had yet."""
        self._data = memoryview(bytearray(_HEADER.size + self.burst))
        """A header and a burst: made once, since the time of a flow runs while a burst is copied."""
        self._unsent = self._data[:0]
        self._to_come = 0
        """Bytes that this node waits for."""
        self._received = b""

    def connect(self, begins_s: float, patience_s: float) -> None:
        """Connect, and show the token; the next flow starts at `begins_s` at the earliest. Raises OSError."""
        self.close()
        self._socket = tcp_connection(self._order, patience_s, _BUFFER)
        self._socket.setblocking(False)
        self.due_s, self._look_s = begins_s, 0.0
        self._held_s.clear()

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self.is_under_way, self._unsent, self._received = None, False, self._data[:0], b""

    def fileno(self) -> int:
        """The file descriptor of the connection."""
        assert self._socket is not None
        return self._socket.fileno()

    @property
    def wants_to_send(self) -> bool:
        """Whether a part of a burst waits for room in the kernel's buffer."""
        return bool(self._unsent)

    @property
    def wants_a_burst(self) -> bool:
        """Whether the next burst, or the next flow, may go when it is due."""
        return not self._unsent and (self._unasked > 0 if self.is_under_way else self.flows_left != 0)

    @property
    def look_s(self) -> float:
        """When to see whether the next burst may go."""
        return max(self.due_s, self._look_s)

    def hold(self, reason: str, now: float, seconds: float) -> None:
        """Keep the next burst back for some seconds: a limit has no room for it."""
        self._held_s[reason] += seconds
        self._look_s = now + seconds

    def _fall_behind(self, seconds: float, *reasons: tuple[str, float]) -> None:
        """Count what does not go in some seconds: as that of each reason for as long as it lasted, the rest as late."""
        rate, left = self.wire_bytes / self.gap_s, seconds
        for reason, lasted in (*reasons, (FlowBound.LATE, left)):
            part = min(max(lasted, 0.0), left)
            self.held_bytes[reason] += rate * part
            left -= part

    def go(self, now: float, chance: random.Random) -> None:
        """Send the next burst of the flow, or the first of the next flow. Raises OSError."""
        head = _HEADER.size
        spare = _CREDIT_S if self.is_under_way else 0.0
        waited = (FlowBound.ANSWERS.value, self._free_s - self.due_s)
        self._fall_behind(max(now - spare - self.due_s, 0.0), *self._held_s.items(), waited)
        self._held_s.clear()
        if is_first := not self.is_under_way:
            self._number = (self._number + 1) & 0xFFFFFFFF
            self._unasked, self.is_under_way = self.size, True
            self.flows_left -= self.flows_left > 0
            self._to_come = 0 if self.is_from_far_end else _ANSWER_BYTES
        part = min(self.burst, self._unasked)
        self._unasked -= part
        if self.is_from_far_end:
            self._to_come += part
            _HEADER.pack_into(self._data, 0, _FROM_FAR_END, self._number, part)
            self._unsent = self._data[:head]
        elif is_first:
            _HEADER.pack_into(self._data, 0, _TO_FAR_END, self._number, self.size)
            self._unsent = self._data[: head + part]
        else:
            self._unsent = self._data[head : head + part]
        # Bursts come evenly; flows in a gap of random length, so that two classes never keep step.
        self.due_s = max(now - spare, self.due_s) + self.gap_s * (1.0 if self._unasked else chance.uniform(0.8, 1.2))
        self.progress_s = time.monotonic()
        if is_first:
            self.started_s = self.progress_s
        self.send()

    def send(self) -> None:
        """Send what the kernel takes now. Raises OSError."""
        assert self._socket is not None
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            return
        self._unsent = self._unsent[sent:]
        self.progress_s = self._free_s = time.monotonic()

    def receive(self, buffer: bytearray) -> bool:
        """Take what has come, and return whether the flow is complete. Raises OSError."""
        assert self._socket is not None
        try:
            count = self._socket.recv_into(buffer)
        except BlockingIOError:
            return False
        if not count:
            raise ConnectionError("the far end closed the connection")
        self.progress_s = time.monotonic()
        self._to_come -= count
        if not self.is_from_far_end:
            self._received += buffer[:count]
        if self._to_come or self._unasked:
            return False
        answer, self._received, self.is_under_way = self._received, b"", False
        if not self.is_from_far_end and answer != _HEADER.pack(_TO_FAR_END, self._number, 0)[:_ANSWER_BYTES]:
            raise ConnectionError("the far end answered another flow")
        self.end(self.progress_s)
        return True

    def end(self, now: float) -> None:
        """Let the next flow start after the pause, where its pace is not slower."""
        self._free_s = now
        begins_s = max(self.due_s, now + self.pause_s)
        late_s = max(now - self.due_s, 0.0)
        if self.flows_left:
            waited = (FlowBound.ANSWERS.value, late_s)
            self._fall_behind(begins_s - self.due_s, waited, (FlowBound.CLASSES.value, self.pause_s))
        self.due_s = begins_s


def flows(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Carry out flows on each lane of the order for `seconds`, or until the lanes with a number of flows have done.

    Returns, for each lane, `name` and `flows`: pairs of the start in seconds since that of the order, and the
    completion time in milliseconds; `broken`; and `held`, the bytes on the wire that did not go at its pace, by
    `FlowBound`. The flows under way at the end complete. Raises OSError where a far end takes no connection.
    """
    budget.bits_per_s = order["bits_per_s"]
    lanes = [_Lane(one) for one in order["lanes"]]
    found: list[dict[str, Any]] = [{"name": one.name, "flows": [], "broken": 0} for one in lanes]
    run = _Run(lanes, found, budget, random.Random(order["seed"]))  # noqa: S311 - gaps, no secret
    stopped, is_harm = "", False
    try:
        run.connect()
        run.go(order["seconds"], order["longest_s"])
    except StoppedError as error:
        stopped, is_harm = str(error), error.is_harm
    finally:
        for one in lanes:
            one.close()
    for each, own in zip(found, lanes, strict=True):
        each["held"] = dict(own.held_bytes)
    return {
        "lanes": found,
        "at": run.at,
        "seconds": time.monotonic() - run.started_s,
        "lateness_us": run.lateness_us,
        "stopped": stopped,
        "is_harm": is_harm,
    }


class _Run:
    def __init__(self, lanes: list[_Lane], found: list[dict[str, Any]], budget: Budget, chance: random.Random) -> None:
        self._lanes, self._found, self._budget, self._chance = lanes, found, budget, chance
        self._buffer = bytearray(1 << 18)
        self._broken_in_a_row = 0
        self.lateness_us: list[float] = []
        """How late this node started a flow that no limit delayed."""
        self.at, self.started_s = time.time(), time.monotonic()

    def connect(self) -> None:
        for lane in self._lanes:
            while wait_s := self._budget.room_s(_CONNECTION_PACKETS, _CONNECTION_BYTES):
                self._budget.orders.wait(wait_s)
            self._budget.burst(_CONNECTION_PACKETS, _CONNECTION_BYTES)
            lane.connect(0.0, _CONNECT_S)
        self.at, self.started_s = time.time(), time.monotonic()
        for lane in self._lanes:
            lane.due_s = self.started_s + lane.gap_s * self._chance.random() * (lane.flows_left < 0)

    def go(self, seconds: float, longest_s: float) -> None:
        """Send and receive until all is done. Raises StoppedError."""
        while True:
            self._budget.orders.look()
            now = time.monotonic()
            passed = now - self.started_s
            counted = any(lane.flows_left > 0 or (lane.flows_left == 0 and lane.is_under_way) for lane in self._lanes)
            is_ending = passed >= longest_s or (passed >= seconds and not counted)
            under_way = [lane for lane in self._lanes if lane.is_under_way]
            if is_ending and not under_way:
                return
            until = now + _LONGEST_WAIT_S
            for lane in self._lanes:
                if lane.is_under_way and now - lane.progress_s > PATIENCE_S and not lane.wants_a_burst:
                    self._break(lane)
                elif lane.wants_a_burst and (lane.is_under_way or not is_ending):
                    until = min(until, self._try(lane))
            readers = [lane for lane in self._lanes if lane.is_under_way]
            writers = [lane for lane in readers if lane.wants_to_send]
            ready, writable, _ = select.select(readers, writers, [], max(0.0, until - time.monotonic()))
            for lane in ready:
                self._receive(lane)
            for lane in writable:
                if lane.is_under_way:
                    self._attempt(lane, lane.send)

    def _try(self, lane: _Lane) -> float:
        """Send the next burst of a lane if it is due, and return when to look again."""
        now = time.monotonic()
        if now < lane.look_s:
            return lane.look_s
        if wait_s := self._budget.room_s(lane.packets, lane.wire_bytes):
            lane.hold(self._budget.held_by, now, wait_s)
            return lane.look_s
        if not lane.is_under_way:
            self.lateness_us.append((now - lane.look_s) * 1e6)
        self._budget.burst(lane.packets, lane.wire_bytes)
        self._attempt(lane, lambda: lane.go(time.monotonic(), self._chance))
        return time.monotonic()

    def _receive(self, lane: _Lane) -> None:
        complete = False

        def receive() -> None:
            nonlocal complete
            complete = lane.receive(self._buffer)

        self._attempt(lane, receive)
        if complete:
            took_s = time.monotonic() - lane.started_s
            self._of(lane)["flows"].append((lane.started_s - self.started_s, took_s * 1e3))
            self._broken_in_a_row = 0

    def _attempt(self, lane: _Lane, work: Any) -> None:
        try:
            work()
        except OSError:
            self._break(lane)

    def _break(self, lane: _Lane) -> None:
        """Count a broken flow, and connect again for the next."""
        self._of(lane)["broken"] += 1
        self._broken_in_a_row += 1
        if self._broken_in_a_row >= MOST_BROKEN:
            raise StoppedError(f"{MOST_BROKEN} flows in a row had no answer", is_harm=True)
        try:
            lane.connect(time.monotonic() + lane.gap_s, _CONNECT_AGAIN_S)
        except OSError:
            raise StoppedError(
                "the far end takes no connection any more, so there is no answer", is_harm=True
            ) from None

    def _of(self, lane: _Lane) -> dict[str, Any]:
        return self._found[self._lanes.index(lane)]


def completed(result: dict[str, Any], name: str) -> Iterator[tuple[float, float]]:
    """Yield the flows of one class in the result of `flows`: when each started, and how long it took in ms."""
    for lane in result["lanes"]:
        if lane["name"] == name:
            yield from map(tuple, lane["flows"])

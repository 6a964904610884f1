"""The sender's main loop: reads orders from its parent, runs one at a time, and prints each result as a line of JSON.

Started as `python -m checks.measure.near_end.sender`. It ends with its stdin, or after 0.8 s without a heartbeat.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from checks.measure.load_limits import FragmentRoom
from checks.measure.near_end import exchanges, paced_streams
from checks.measure.near_end.control import Budget, Orders
from checks.measure.near_end.incomplete import Incomplete
from checks.measure.near_end.messages import ECHO, Datagrams, Messages, Pings
from checks.measure.near_end.prober import drill
from checks.measure.near_end.source_ports import source_ports
from checks.measure.near_end.stopped import StoppedError
from checks.measure.near_end.storage_file import StorageFile
from checks.measure.near_end.tcp_flows import flows
from checks.sources.probes.pinger import CannotPingError

Order = dict[str, Any]


def exchange(order: Order, budget: Budget) -> dict[str, Any]:
    """Exchange messages of one size with one far end, for one round. See `exchanges.Exchanged` for the result."""
    messages = _messages(order)
    budget.bits_per_s = order["bits_per_s"]
    sizes = order["packets"], order["wire_bytes"], order["holds"]
    try:
        if rate := order["rate"]:
            found = exchanges.at_a_rate(messages, budget, *sizes, rate, order["seconds"], order["in_flight"])
        else:
            found = exchanges.one_at_a_time(messages, budget, *sizes, order["seconds"], order.get("most", 0))
    finally:
        messages.close()
    return asdict(found)


def idle(order: Order, budget: Budget) -> dict[str, Any]:
    """Measure how busy this node is while nothing is sent, for `seconds`."""
    before, stopped = exchanges.busy_s(), ""
    try:
        budget.orders.wait(order["seconds"])
    except StoppedError as error:
        stopped = str(error)
    return {"busy_s": exchanges.busy_s() - before, "stopped": stopped}


_storage = StorageFile()
_receiver = paced_streams.PacedReceiver()
ORDERS: dict[str, Callable[[Order, Budget], dict[str, Any]]] = {
    "exchange": exchange,
    "idle": idle,
    "drill": drill,
    "flows": flows,
    "tcp_to": paced_streams.tcp_to,
    "tcp_from": paced_streams.tcp_from,
    "udp_to": paced_streams.udp_to,
    "udp_from": _receiver.udp_from,
    "udp_rest": _receiver.rest,
    "source_ports": source_ports,
    "storage_look": _storage.look,
    "storage_open": _storage.open,
    "storage_transfer": _storage.transfer,
}


def _carry_out(order: Order, budget: Budget) -> dict[str, Any]:
    """Carry out an order. Its result also has `sent_bps`: bits a second on the wire, of this node, over the order."""
    began_s, left = time.monotonic(), budget.bytes_left
    result = ORDERS[order["order"]](order, budget)
    seconds = time.monotonic() - began_s
    return {**result, "sent_bps": (left - budget.bytes_left) * 8 / seconds if seconds > 0 else 0.0}


def _messages(order: Order) -> Messages:
    if order["port"] is None:
        return Pings(order["source"], order["target"], order["device"], order["size"], order["train"])
    token = bytes.fromhex(order["token"])
    kind = order.get("kind", ECHO)
    return Datagrams(order["source"], order["target"], order["port"], token, order["size"], order["train"], kind)


def main() -> None:
    """Run the orders of the parent until it ends."""
    # Ctrl-C reaches the whole group of processes; the parent decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders = Orders()
    budget: Budget | None = None
    _say({"ready": True})
    while (order := orders.next()) is not None:
        if order["order"] == "limits":
            rooms = {node: FragmentRoom(*room) for node, room in order["rooms"].items()}
            budget = Budget(
                orders,
                order["packets_per_s"],
                order["bits_per_s"],
                order["most_bytes"],
                order["cpu_share"],
                Incomplete(rooms, order["stop_bytes"]),
            )
            continue
        assert budget is not None, "the limits come first"
        try:
            _say(_carry_out(order, budget))
        except (OSError, CannotPingError) as error:
            _say({"failed": getattr(error, "strerror", None) or str(error)})


def _say(result: dict[str, Any]) -> None:
    line = json.dumps(result).encode() + b"\n"
    try:
        while line:
            line = line[os.write(1, line) :]
    except BrokenPipeError:  # racwire has ended
        raise SystemExit from None


if __name__ == "__main__":
    main()

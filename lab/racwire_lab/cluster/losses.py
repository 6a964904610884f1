"""Where blocks were lost: the log of the instances, and what each rule, queue and node of the practice cluster dropped.

A block that the database counts as lost is in the log of its receiver. The rule that dropped it remembers it, too, for
some time. What no rule and no receive buffer dropped was lost elsewhere: in reassembly, in a queue, or on a link that
is down; their counters say so in packets, and not in blocks.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racwire_lab.cluster.desired import Desired
from racwire_lab.cluster.drop_rules import BLOCKS, CUT, FRAGMENTS, REMEMBERED_S, TABLE
from racwire_lab.cluster.processes import Process, into
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.lab_errors import LabError, LabUsageError
from racwire_lab.programs.cache_fusion.loss_log import BEFORE, FILE

MOST_S = REMEMBERED_S - 10
"""The longest interval, in seconds: the rules must remember its blocks until they are read."""
_KERNEL = {"Udp": ("RcvbufErrors",), "Ip": ("ReasmFails", "ReasmTimeout")}


@dataclass(frozen=True)
class LostBlocks:
    """The blocks of one sender that one receiver lost on one network, and the rule that dropped them."""

    receiver: str
    sender: str
    nic: str
    rule: str
    """The name of the rule; empty for the blocks that no rule dropped."""
    blocks: int


@dataclass(frozen=True)
class Dropped:
    """What one counter of the practice cluster counted."""

    name: str
    """A rule (`loss-eth2`), a queue (`rac2-eth2`), or a counter of a kernel (`Udp.RcvbufErrors`)."""
    place: str
    """The node; `switch` for the switch; `hypervisor of rac2`."""
    packets: int
    bytes: int | None = None


@dataclass(frozen=True)
class Losses:
    """The lost blocks of an interval, and the counters at its end."""

    begun_at: float
    ended_at: float
    """Seconds since 1970."""
    lost: tuple[LostBlocks, ...]
    no_room: dict[str, int]
    """Blocks of the interval that found no room in a receive buffer, by node."""
    rules: tuple[Dropped, ...]
    """Since the rules last changed."""
    kernels: tuple[Dropped, ...]
    """Since the nodes started."""
    queues: tuple[Dropped, ...]
    """Since the queues were made."""


def checked_seconds(text: str) -> float:
    """Return the length of an interval. Raises LabUsageError when it is not possible."""
    with suppress(ValueError):
        if 0 < (seconds := float(text)) <= MOST_S:
            return seconds
    raise LabUsageError(f"The interval is 1 to {MOST_S} seconds before now, not '{text}': choose with --losses.")


@dataclass(frozen=True)
class LossReader:
    """Reads the losses of a running cluster."""

    directory: Path
    init: Process
    nodes: Mapping[str, Process]
    hypervisors: Mapping[str, Process]
    rootless: bool
    target: Desired
    """The state of the cluster: it says where rules and queues are."""

    def read(self, begun_at: float, ended_at: float) -> Losses:
        """Return the losses of an interval that ended not long ago. Raises LabError when a counter cannot be read."""
        rules = {"switch": self._rules(self.init, "bridge")} if self.target.switch_rules else {}
        rules |= {n: self._rules(self.nodes[n], "inet") for n, own in self.target.node_rules.items() if own}
        hidden = {node: holder for node, holder in self.hypervisors.items() if self.target.hypervisor_rules[node]}
        rules |= {f"hypervisor of {node}": self._rules(holder, "bridge") for node, holder in hidden.items()}
        lost, no_room = Counter[tuple[str, str, str, str]](), Counter[str]()
        by_rule = dict(_remembered(rules.values()))
        for entry in self._log():
            if begun_at < entry["at"] <= ended_at:
                receiver, nic = self._names[entry["receiver"]], self.target.networks[entry["network"]].nic
                if "dropped" in entry:
                    no_room[receiver] += entry["dropped"]
                    continue
                sender = entry["sender"]
                rule = by_rule.get((entry["request"], entry["bit"]), "")
                lost[receiver, self._names[sender], nic, rule] += 1
        return Losses(
            begun_at=begun_at,
            ended_at=ended_at,
            lost=tuple(LostBlocks(*key, blocks) for key, blocks in sorted(lost.items())),
            no_room=dict(sorted(no_room.items())),
            rules=tuple(dropped for place, found in rules.items() for dropped in _dropped(place, found)),
            kernels=tuple(self._kernels()),
            queues=tuple(self._queues()),
        )

    @property
    def _names(self) -> dict[int, str]:
        return {instance.number: node for node, instance in self.target.instances.items()}

    def _log(self) -> Iterator[dict[str, Any]]:
        for node in self.nodes:
            for name in (BEFORE, FILE):
                with suppress(FileNotFoundError):
                    lines = (node_home(self.directory, node) / name).read_text(encoding="ascii").splitlines()
                    yield from (json.loads(line) for line in lines)

    def _rules(self, holder: Process, family: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._json(holder, "nft", "-j", "list", "table", family, TABLE)["nftables"]
        return found

    def _kernels(self) -> Iterator[Dropped]:
        for node, holder in self.nodes.items():
            lines = [line.split() for line in Path(f"/proc/{holder.pid}/net/snmp").read_text("ascii").splitlines()]
            for names, values in zip(lines[::2], lines[1::2], strict=True):
                group = names[0].rstrip(":")
                for name in _KERNEL.get(group, ()):
                    yield Dropped(f"{group}.{name}", node, int(values[names.index(name)]))

    def _queues(self) -> Iterator[Dropped]:
        places = {(q.port.node if q.is_in_node else "switch", q.device) for q in self.target.queues}
        for place, device in sorted(places):
            holder = self.init if place == "switch" else self.nodes[place]
            queues = self._json(holder, "tc", "-s", "-j", "qdisc", "show", "dev", device)
            # The drops of the classes of a queue are in those of the queue itself.
            yield Dropped(device, place, sum(queue["drops"] for queue in queues if queue.get("root")))

    def _json(self, holder: Process, *command: str) -> Any:
        argv = [*into(holder, "net", rootless=self.rootless), *command]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"Could not read the counters of the practice cluster ({done.stderr.strip()}).")
        return json.loads(done.stdout)


def since(seconds: float) -> tuple[float, float]:
    """Return the interval of so many seconds before now."""
    now = time.time()
    return now - seconds, now


def _dropped(place: str, found: Iterable[dict[str, Any]]) -> Iterator[Dropped]:
    for counter in (entry["counter"] for entry in found if "counter" in entry):
        yield Dropped(counter["name"], place, counter["packets"], counter["bytes"])


def _remembered(places: Iterable[list[dict[str, Any]]]) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield request and bit of each block that a rule dropped, whole or in part, with the name of the rule.

    Where several rules dropped fragments of one block, the last one counts.
    """
    for found in places:
        sets = {entry["set"]["name"]: list(_elements(entry["set"])) for entry in found if "set" in entry}
        cut = {tuple(datagram): (request, bit) for *datagram, bit, request in sets.get(CUT, [])}
        for name, elements in sets.items():
            if name.endswith(FRAGMENTS):
                for datagram in elements:
                    if block := cut.get(tuple(datagram)):
                        yield block, name.removesuffix(FRAGMENTS)
            elif name != CUT:
                yield from (((request, bit), name.removesuffix(BLOCKS)) for bit, request in elements)


def _elements(found: dict[str, Any]) -> Iterator[list[Any]]:
    return (element["elem"]["val"]["concat"] for element in found.get("elem", []))

"""Parse what the program `drops` prints: lines of a trace, and its own words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from checks.model.facts import DroppedPackets, FollowedPackets, KernelDrops

WORD = "racwire "
"""The beginning of the program's own lines."""
_EVENT = re.compile(r"\s([0-9]{1,12}\.[0-9]{1,9}): (kfree_skb|netif_receive_skb|net_dev_queue): (.{1,400})", re.ASCII)
_ADDRESS = re.compile(r"\bskbaddr=(\S{1,40})", re.ASCII)
_LOCATION = re.compile(r"\blocation=(\S{1,120})", re.ASCII)
_REASON = re.compile(r"\breason: ?([A-Za-z0-9_]{1,60})", re.ASCII)
_DEVICE = re.compile(r"\bdev=(\S{1,15})", re.ASCII)
_LOST = re.compile(r"\[LOST ([0-9]{1,12}) EVENTS\]", re.ASCII)
_FUNCTION = re.compile(r"([A-Za-z_][\w.]{0,80}?)(?:\.(?:isra|part|constprop|cold)[.\d]*)*\+0x[0-9a-f]+", re.ASCII)
_HIDDEN = "(____ptrval____)"
"""What a kernel prints for an address before it can hide it by a hash."""
_WITHIN_S = 0.05
"""Seconds between the event of a NIC and the drop of the same packet. The kernel uses the memory of a packet again for
others, so a later drop at the same address is another packet. Ours."""


@dataclass
class Trace:
    """What the program has printed so far."""

    none: str = ""
    """Why it showed nothing: a word of the program."""
    is_on: bool = False
    is_marked: bool = True
    """Whether the events of the NICs were on, too."""
    has_reasons: bool = False
    seconds: int = 0
    is_stopped: bool = False
    is_over: bool = False
    missed: int = 0
    followed: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """Packets of racwire's size by NIC and whether it was given them to send."""
    drops: Counter[tuple[str, str, str, bool]] = field(default_factory=Counter)
    """Packets by reason, location, NIC and whether they were on the way out."""
    _at_nic: dict[str, tuple[float, str, bool]] = field(default_factory=dict)

    def feed(self, line: str) -> None:
        """Take one line."""
        if line.startswith(WORD):
            self._word(line.removeprefix(WORD).split())
        elif found := _EVENT.search(line):
            self._event(float(found[1]), found[2], found[3])
        elif lost := _LOST.search(line):
            self.missed += int(lost[1])

    def _word(self, words: list[str]) -> None:
        match words:
            case ["none", why, *_]:
                self.none, self.is_over = why, True
            case ["reasons", *_]:
                self.has_reasons = True
            case ["unmarked", *_]:
                self.is_marked = False
            case ["on", *_]:
                self.is_on = True
            case [("second" | "stopped") as what, number, *_] if number.isascii() and number.isdigit():
                self.seconds = int(number[:4])
                self.is_stopped = self.is_over = what == "stopped"
            case ["missed", *numbers]:
                self.missed += sum(int(n[:12]) for n in numbers if n.isascii() and n.isdigit())
            case ["off", *_]:
                self.is_over = True

    def _event(self, at: float, event: str, rest: str) -> None:
        found = _ADDRESS.search(rest)
        address = found[1] if found else _HIDDEN
        if event == "kfree_skb":
            reason, location = _REASON.search(rest), _LOCATION.search(rest)
            seen_at, nic, is_sent = self._at_nic.pop(address, (at, "", False))
            if not 0 <= at - seen_at <= _WITHIN_S:
                nic, is_sent = "", False
            function = _FUNCTION.match(location[1]) if location else None
            self.drops[reason[1] if reason else "", function[1] if function else "", nic, is_sent] += 1
        elif device := _DEVICE.search(rest):
            is_sent = event == "net_dev_queue"
            self.followed[device[1], is_sent] += 1
            if address != _HIDDEN:
                self._at_nic[address] = (at, device[1], is_sent)

    @property
    def text(self) -> str:
        """What was counted, for the journal: no names of processes, which each event has."""
        lines = [f"watched for {self.seconds} s"]
        lines += [f"no trace: {self.none}"] if self.none else []
        lines += [f"{self.missed} events found no room"] if self.missed else []
        for (nic, is_sent), number in sorted(self.followed.items()):
            lines.append(f"{number} of racwire's size {'sent through' if is_sent else 'from'} {nic}")
        for (reason, location, nic, is_sent), number in sorted(self.drops.items()):
            where = f" {'sent through' if is_sent else 'from'} {nic}" if nic else ""
            lines.append(f"{number} {reason or 'without a reason'} {location}{where}".rstrip())
        return "\n".join(lines)

    def facts(self, node: str) -> KernelDrops:
        """Return the facts."""
        return KernelDrops(
            node,
            float(self.seconds),
            tuple(
                DroppedPackets(reason, location, number, nic, is_sent)
                for (reason, location, nic, is_sent), number in sorted(self.drops.items())
            ),
            tuple(FollowedPackets(nic, number, is_sent) for (nic, is_sent), number in sorted(self.followed.items())),
            self.has_reasons,
            self.missed,
            self.is_stopped,
        )

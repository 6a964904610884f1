"""The decisions of CSS about the members of the cluster, from heartbeats and locks. No I/O.

A node that misses the network heartbeat of another one reports it after 50, 75 and 90 % of misscount. After misscount
the larger part of the cluster remains; of two equal parts, the part with the node of the lowest number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_STAGES = ((50, "CRS-1612"), (75, "CRS-1611"), (90, "CRS-1610"))
_TOGETHER = 0.75
"""The part of misscount without a heartbeat that counts as gone when another node is gone."""
_PAUSE_S = 1.5
"""Seconds between two turns above which this program did not run itself: then no heartbeat counts as missing."""


@dataclass
class Turn:
    """The result of one turn."""

    messages: list[str] = field(default_factory=list)
    traced: list[str] = field(default_factory=list)
    """The lines for the trace of CSS, which say the same in its own words."""
    is_evicted: bool = False
    """Whether this node must leave the cluster."""
    kills: list[int] = field(default_factory=list)
    """The nodes that must leave the cluster, which their kill blocks on the voting disk will say."""


class Membership:
    """The members of the cluster as one node sees them, by number."""

    def __init__(self, number: int, names: Mapping[int, str], now: float) -> None:
        self._number = number
        self._names = dict(names)
        self._active: set[int] = set()
        self._heard: dict[int, float] = {}
        self._stage: dict[int, int] = {}
        self._evicted: set[int] = set()
        self._at = now
        self._incarnation = 0
        self._is_new = True

    def heard(self, peer: int, now: float) -> None:
        """Record a heartbeat."""
        self._heard[peer] = now

    def turn(self, running: Iterable[int], shut_down: Iterable[int], misscount_s: float, now: float) -> Turn:
        """Return what to report. `running` are the other nodes whose CSS runs, as the voting disk shows it; `shut_down`
        those of the others that were stopped in order."""
        turn = Turn()
        pause = now - self._at
        if pause > _PAUSE_S:
            self._heard = {peer: at + pause for peer, at in self._heard.items()}
        self._at = now
        up = set(running)
        changed = self._is_new
        self._is_new = False
        self._evicted &= up
        for peer in sorted(self._active - up):
            self._active.discard(peer)
            name, changed = self._names[peer], True
            if peer in set(shut_down):
                turn.messages.append(f"CRS-1625: Node {name}, number {peer}, was shut down")
            else:
                turn.messages.append(self._removed(name))
        for peer in sorted(up - self._active - self._evicted):
            self._active.add(peer)
            self._heard[peer], self._stage[peer] = now, 0
            changed = True
        missing = {peer: self._missing(peer, misscount_s, now, turn) for peer in sorted(self._active)}
        if any(seconds >= misscount_s for seconds in missing.values()):
            # Nodes that fell silent together are one part of the cluster, although their heartbeats came one by one.
            changed = self._decide({p for p, seconds in missing.items() if seconds >= misscount_s * _TOGETHER}, turn)
        if changed and not turn.is_evicted:
            names = " ".join(self._names[peer] for peer in sorted({self._number, *self._active}))
            turn.messages.append(f"CRS-1601: CSSD Reconfiguration complete. Active nodes are {names} .")
        return turn

    def _missing(self, peer: int, misscount_s: float, now: float, turn: Turn) -> float:
        """Report the stage that was reached, and return the seconds without a heartbeat."""
        missing = now - self._heard[peer]
        reached = sum(missing >= misscount_s * percent / 100 for percent, _ in _STAGES)
        for percent, code in _STAGES[self._stage[peer] : reached]:
            left = max(0.0, misscount_s - missing)
            turn.traced.append(
                f"clssnmPollingThread: node {self._names[peer]} ({peer}) at {percent}% heartbeat fatal, removal in "
                f"{left:.3f} seconds"
            )
            turn.messages.append(
                f"{code}: Network communication with node {self._names[peer]} ({peer}) has been missing for "
                f"{percent}% of the timeout interval.  If this persists, removal of this node from cluster will occur "
                f"in {left:.3f} seconds"
            )
        self._stage[peer] = reached
        return missing

    def _decide(self, gone: set[int], turn: Turn) -> bool:
        mine = {self._number, *self._active} - gone
        remains = (len(mine), -min(mine)) > (len(gone), -min(gone))
        if not remains:
            turn.is_evicted = True
            turn.messages += [
                "CRS-1609: This node is unable to communicate with other nodes in the cluster and is going down to "
                "preserve cluster integrity; details at (:CSSNM00008:) in ocssd.trc.",
                "CRS-1656: The CSS daemon is terminating due to a fatal error; Details at (:CSSSC00012:) in ocssd.trc",
                "CRS-1652: Starting clean up of CRSD resources.",
                "CRS-1654: Clean up of CRSD resources finished successfully.",
            ]
            return False
        for peer in sorted(gone):
            self._active.discard(peer)
            self._evicted.add(peer)
            turn.kills.append(peer)
            turn.traced.append(
                f"(:CSSNM00007:)clssnmrRemoveNode: Evicting node {peer}, {self._names[peer]}, from the cluster in "
                f"incarnation {548_820_000 + self._incarnation + 1}"
            )
            if self._number == min(mine):
                turn.messages.append(
                    f"CRS-1607: Node {self._names[peer]} is being evicted in cluster incarnation {self._next()}; "
                    "details at (:CSSNM00007:) in ocssd.trc."
                )
            turn.messages.append(self._removed(self._names[peer]))
        return True

    def _removed(self, name: str) -> str:
        return f"CRS-1632: Node {name} is being removed from the cluster in cluster incarnation {self._next()}"

    def _next(self) -> int:
        self._incarnation += 1
        return 548_820_000 + self._incarnation

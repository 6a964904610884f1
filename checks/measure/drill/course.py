"""The course of a drill: what to tell the people who pull the cable, and when it is over. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.measure.drill.drill_subject import REBOOT, DrillSubject
from checks.model.facts import Unknown
from checks.model.measurement import MeasuredPath
from checks.model.wording import listed

USUAL_MISSCOUNT_S = 30.0
"""Oracle's default, for the call to plug it in where crsctl did not name the value."""
_SETTLE_S = 5.0
"""Seconds without a silence after which a drill without a time of its own is over."""
_AFTER_RECONFIGURATION_S = 10.0
"""Seconds after the reconfiguration after which a drill of a node is over, so that blocks are seen again."""
_LEAST_S = 0.1
"""racwire reports no shorter silence while the drill runs, and none ends it: a busy node makes such silences too.
The result has it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A sentence for the operator."""

    text: str
    is_loud: bool = False
    """Whether the operator sees it even where racwire is quiet."""


class Course:
    """Receives the news of the prober. Moments are in ns, by `time.monotonic_ns`."""

    def __init__(
        self,
        subject: DrillSubject,
        paths: Sequence[MeasuredPath],
        misscount_s: float | Unknown,
        seconds: float | None,
        begin_ns: int,
    ) -> None:
        """`seconds`: the length of the drill; None where it is over as soon as what was silent answers again."""
        self._subject, self._paths = subject, tuple(paths)
        self._is_known = not isinstance(misscount_s, Unknown)
        self._misscount_s = USUAL_MISSCOUNT_S if isinstance(misscount_s, Unknown) else misscount_s
        self._seconds, self._begin_ns = seconds, begin_ns
        self._has_begun = False
        self._silent: list[float] = [0.0] * len(self._paths)
        self._told: set[int] = set()
        self._called: set[int] = set()
        self._quiet_since_ns: int | None = None
        """Since when every path answers again; None before something happened, and while a path is silent."""
        self._reconfigured_ns: int | None = None
        self._sign = ""

    @property
    def is_silent(self) -> bool:
        """Whether a path is silent now, other than those to the node that the drill stops."""
        return any(
            one >= _LEAST_S and path.target_node != self._subject.node
            for one, path in zip(self._silent, self._paths, strict=True)
        )

    @property
    def status(self) -> str:
        """What happens now, for a status line."""
        longest = max(self._silent, default=0.0)
        if longest >= _LEAST_S:
            place = self._silent.index(longest)
            return f"{_name(self._paths[place])} is silent for {longest:.1f} s   s stops"
        return f"PROBING {len(self._paths)} paths   {self._subject.to_do}   s stops"

    def harm(self, sign: str) -> Iterator[Call]:
        """A sign of harm was seen, which is no result of the drill."""
        self._sign = sign
        yield Call(f"Stop the drill: {sign} {self._subject.to_undo}", is_loud=True)

    @property
    def sign(self) -> str:
        """The sign of harm that ends the drill; empty without one."""
        return self._sign

    def news(self, now_ns: int, silent_ns: Sequence[int], over: Sequence[Sequence[int]]) -> Iterator[Call]:
        """Yield what to say. `over`: number of the path, beginning and length of each silence that has ended."""
        if not self._has_begun:
            self._has_begun = True
            gone = [_name(path) for path, silent in zip(self._paths, silent_ns, strict=True) if silent]
            if gone:
                yield Call(f"Silent already at the start of the drill: {listed(gone)}.", is_loud=True)
            yield Call(self._subject.to_do + ".")
        self._silent = [one / 1e9 for one in silent_ns]
        for number, _, length_ns in over:
            if length_ns / 1e9 >= _LEAST_S:
                self._told.discard(number)
                self._called.discard(number)
                self._quiet_since_ns = now_ns
                yield Call(f"{_name(self._paths[number])} answers again after {length_ns / 1e9:.3f} s.")
        for number, silent_s in enumerate(self._silent):
            if silent_s >= _LEAST_S and number not in self._told:
                self._told.add(number)
                yield Call(f"{_name(self._paths[number])} is silent.")
        if any(one >= _LEAST_S for one in self._silent):
            self._quiet_since_ns = None
        yield from self._calls()

    def _calls(self) -> Iterator[Call]:
        """Call for the end of an interruption at half of misscount, once for each silence."""
        due = [
            number
            for number, silent_s in enumerate(self._silent)
            if silent_s >= self._misscount_s / 2 and number not in self._called and self._subject.is_link
        ]
        if due:
            self._called.update(due)
            what = "half of misscount" if self._is_known else "half of the usual misscount"
            names = listed(f"{self._paths[number].target_node} on {self._paths[number].network}" for number in due)
            yield Call(
                f"PLUG IT IN NOW: no answer of {names} for {self._misscount_s / 2:.0f} s, {what} "
                f"({self._misscount_s:.0f} s).",
                is_loud=True,
            )

    def happened(self, now_ns: int) -> None:
        """A link was lost, if only for a moment: the drill may end once every path answers."""
        if self._quiet_since_ns is None:
            self._quiet_since_ns = now_ns

    def reconfigured(self, now_ns: int) -> Iterator[Call]:
        """CSS has reconfigured the cluster."""
        if self._reconfigured_ns is None:
            self._reconfigured_ns = now_ns
            yield Call("CSS has reconfigured the cluster.")

    def is_over(self, now_ns: int) -> bool:
        """Whether the drill may end. It never does while a path is silent that should answer."""
        if self.is_silent:
            return False
        if self._sign:
            return True
        if self._seconds is not None:
            return now_ns - self._begin_ns >= self._seconds * 1e9
        if self._reconfigured_ns is not None and self._subject.transition != REBOOT:
            return now_ns - self._reconfigured_ns >= _AFTER_RECONFIGURATION_S * 1e9
        return self._quiet_since_ns is not None and now_ns - self._quiet_since_ns >= _SETTLE_S * 1e9


def _name(path: MeasuredPath) -> str:
    how = "ping" if path.far_end == "kernel" else "UDP"
    return f"{path.source_node} -> {path.target_node} on {path.network} ({how})"

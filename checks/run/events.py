"""What the engine tells while it works; the console and the command line consume only these."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.finding import Finding
from checks.model.report import Report


@dataclass(frozen=True)
class RunStarted:
    """These checks will be run, and these groups of facts gathered for them."""

    checks: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class GatherProgress:
    """A group of facts is being gathered; `total` is 0 while it is not known how much there is to do."""

    group: str
    text: str
    done: int = 0
    total: int = 0

    @property
    def measure(self) -> str:
        """How far it is: `12 of 30 s` where time is what it takes, else `2 of 4`; nothing where that is not known."""
        unit = " s" if self.group in _TIMED else ""
        return f"{self.done} of {self.total}{unit}" if self.total else ""


_TIMED = ("counters", "activity")
"""Groups that are two readings with a wait between them: their progress is in seconds."""


@dataclass(frozen=True)
class Gathered:
    """A group of facts has been gathered; `problem` says why when it could not be."""

    group: str
    seconds: float
    problem: str = ""


@dataclass(frozen=True)
class CheckConcluded:
    """A check has concluded."""

    check: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class RunFinished:
    """All checks have concluded."""

    report: Report


Event = RunStarted | GatherProgress | Gathered | CheckConcluded | RunFinished

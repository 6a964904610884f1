"""What the engine tells while it works; the console and the command line consume only these."""

from __future__ import annotations

from dataclasses import dataclass

from checks.finding import Finding
from checks.result import Report


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

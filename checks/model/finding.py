"""What a check says: status, finding, remedy, and where the evidence lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec


class Status(StrEnum):
    """How a finding ended; UNKNOWN is neither a pass nor a fail."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    INFO = "INFO"
    WARN = "WARN"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    SKIPPED = "SKIPPED"

    @property
    def letter(self) -> str:
        """The sign before it in a list, so that colour only repeats it."""
        return {"UNKNOWN": "?", "SKIPPED": "-"}.get(self.value, self.value[0])

    @property
    def gravity(self) -> int:
        """Rank for "worst first": 0 is the worst."""
        return _WORST_FIRST.index(self)


_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.INFO, Status.PASS, Status.SKIPPED)
FAULTS = frozenset({Status.FAIL, Status.WARN})
"""What was seen to be wrong."""
PROBLEMS = FAULTS | {Status.UNKNOWN}
"""What somebody has to look at, or to waive: a fault, or not knowing of one."""


class Remedy(msgspec.Struct, frozen=True, omit_defaults=True):
    """A next step. racwire prints its commands and never runs them."""

    text: str
    commands: tuple[str, ...] = ()
    where: str = ""
    """Who runs them, and on which node: `root on rac2`."""
    is_change: bool = False
    """A change to the cluster: shown as one to be made under the safe-change procedure only."""


class EvidenceRef(msgspec.Struct, frozen=True):
    """Points at entries of the journal: what was read or sent, on which node, about what."""

    node: str
    topic: str


class Table(msgspec.Struct, frozen=True):
    """A small table that belongs to a finding, such as the path matrix."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: str = ""


class Magnitude(msgspec.Struct, frozen=True):
    """How bad it is, where that is a number: a higher one is worse. A waiver is lifted when it rises."""

    value: float
    unit: str
    """What was counted, in one word: `paths`; or measured, with its unit: `% of packets lost`, `ms on average`."""

    @property
    def is_measured(self) -> bool:
        """Whether it is another number each time, though nothing has changed; a count is not."""
        return " " in self.unit


class Waived(msgspec.Struct, frozen=True):
    """That the operator lives with a finding until a day: from the settings (`checks.rules.waivers`)."""

    reason: str
    by: str
    """Who took that on."""
    expires: str
    """The last day on which it holds, as `2026-12-31`."""


Scalar = str | int | float | bool


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that a check concluded. The title can be read aloud on a bridge call."""

    code: str
    check: str
    status: Status
    title: str
    subject: str = ""
    """What it is about, in a few words for a list: `eth2 rac1 -> rac2`."""
    seen: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    why: str = ""
    next: tuple[Remedy, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    sources: tuple[str, ...] = ()
    """Where the rule comes from: `MOS 563566.1, cause 5`."""
    table: Table | None = None
    network: str = ""
    """The private network it is about, by name; findings on the same one are shown as joined."""
    nodes: tuple[str, ...] = ()
    extent: Magnitude | None = None
    data: dict[str, Scalar] = msgspec.field(default_factory=dict)
    """What the text says, as named numbers and words with the unit in the name (`lost_blocks`, `average_ms`), so that a
    reader of the JSON need not take the sentences apart."""
    waived: Waived | None = None
    """Shown like any other, marked; out of the counts of problems and of the exit code."""


def worst_first(findings: list[Finding]) -> list[Finding]:
    """The findings, gravest first, what is waived after all other problems, otherwise in the order given."""
    return sorted(findings, key=lambda f: (bool(f.waived) or f.status not in PROBLEMS, f.status.gravity))


Key = tuple[str, str, str, tuple[str, ...], int]
"""Check, code, network, nodes, and a number where a run has several of them."""


def keyed(findings: Iterable[Finding]) -> Iterator[tuple[Key, Finding]]:
    """Each finding with its key; further ones of the same kind about the same thing are numbered."""
    seen: Counter[tuple[str, str, str, tuple[str, ...]]] = Counter()
    for finding in findings:
        what = (finding.check, finding.code, finding.network, finding.nodes)
        yield (*what, seen[what]), finding
        seen[what] += 1


def could_not_look(findings: Iterable[Finding], at: Finding) -> bool:
    """Whether a run with these findings does not know about what that finding of another run is about."""
    return any(
        other.status is Status.UNKNOWN
        and other.check == at.check
        and (not (other.network or other.nodes) or _same_place(other, at))
        for other in findings
    )


def _same_place(one: Finding, other: Finding) -> bool:
    return (bool(one.network) and one.network == other.network) or bool(set(one.nodes) & set(other.nodes))

"""The results of a check: statuses, findings, remedies, and references to the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from checks.model.command_effect import effect_of, rollback_of
from checks.model.effect import Effect
from checks.model.facts.base import MissingRight, Unknown
from checks.model.observation import Observation
from checks.model.own_command import OwnCommand
from checks.model.shell_command import shell


class Status(StrEnum):
    """The status of a finding; UNKNOWN is neither a pass nor a failure."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    INFO = "INFO"
    WARN = "WARN"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    SKIPPED = "SKIPPED"

    @property
    def letter(self) -> str:
        """The letter of the status in a list, so that no meaning depends on colour."""
        return {"UNKNOWN": "?", "SKIPPED": "-"}.get(self.value, self.value[0])

    @property
    def gravity(self) -> int:
        """The rank for sorting the worst first: 0 is the worst."""
        return _WORST_FIRST.index(self)


_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.INFO, Status.PASS, Status.SKIPPED)
FAULTS = frozenset({Status.FAIL, Status.WARN})
"""The statuses of faults."""
PROBLEMS = FAULTS | {Status.UNKNOWN}
"""The statuses that an operator must examine or waive: faults, and UNKNOWN."""


class NextStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A next step. racwire prints its commands and never runs them."""

    text: str
    commands: tuple[str, ...] = ()
    where: str = ""
    """The user who runs the commands, and the node: `root on rac2`."""
    is_change: bool = False
    """Whether the step changes the cluster: racwire marks it as a step for the safe-change procedure only."""
    effect: Effect = Effect.READS
    """What the step does to a running cluster: the worst of its commands, or what a step without commands states."""
    own: tuple[OwnCommand, ...] = ()
    """racwire's commands about the open change or experiment, typed after `commands`."""
    ends_danger: bool = False
    """Whether the step ends a danger to the running cluster: it is due at once, whatever its commands do elsewhere."""
    only_verifies: bool = False
    """Whether the step says nothing but to verify again, for which a screen has a key."""

    def __post_init__(self) -> None:
        worst = max(self.effect, effect_of(self.commands), key=lambda effect: effect.rank)
        msgspec.structs.force_setattr(self, "effect", worst)

    @property
    def advice(self) -> str:
        """The text to show: with what the step does to a running cluster, where it changes or disturbs something, and
        with what undoes a change."""
        is_stated = (self.is_change or self.effect.rank > Effect.HARMLESS.rank) and not self.ends_danger
        return f"{self.text} {self.caution}".rstrip() if is_stated else self.text

    @property
    def caution(self) -> str:
        """What the reader must know before typing: the effect on a running cluster, and the rollback of a change."""
        rollback = rollback_of(self.commands) if self.is_change else ""
        return f"{self.effect.sentence} {rollback}".strip()


def step_for(right: MissingRight) -> NextStep:
    """Return the step that obtains a missing right."""
    script = f" `{right.script}` prints all lines that are needed." if right.script else ""
    return NextStep(f"Missing right: {right.needed}.{script}", right.commands, right.where)


def check_again(*checks: str) -> NextStep:
    """Return the step that runs checks again after the repair of what stood in their way."""
    which = "this check" if len(checks) == 1 else "these checks"
    return NextStep(
        f"Fix the cause named above, then run {which} again.", (shell("racwire check {checks}", checks=checks),)
    )


def name_the_networks(subnets: Sequence[str] = ()) -> NextStep:
    """Return the step that makes racwire independent of Clusterware, with the subnets that the nodes have."""
    found = f" The nodes that racwire read have {', '.join(subnets)}." if subnets else ""
    return NextStep(
        f"To work without Clusterware, specify the private networks and the other nodes.{found}",
        ("racwire check --network 192.168.10.0/24 --peer HOST",),
    )


class EvidenceRef(msgspec.Struct, frozen=True):
    """A reference to entries of the journal, by node and topic."""

    node: str
    topic: str


class Table(msgspec.Struct, frozen=True):
    """A small table that belongs to a finding, such as the path matrix."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: str = ""


class Magnitude(msgspec.Struct, frozen=True):
    """The magnitude of a problem: a higher one is worse. A waiver is lifted when it rises."""

    value: float
    unit: str
    """One word for a count: `paths`; several words for a measurement: `% of packets lost`, `ms on average`."""

    @property
    def is_measured(self) -> bool:
        """Whether the number varies between measurements without a change; a count does not."""
        return " " in self.unit


class Waived(msgspec.Struct, frozen=True):
    """The waiver of a finding until a day, from the settings (`checks.rules.waivers`)."""

    reason: str
    by: str
    """The person who is responsible for the waiver."""
    expires: str
    """The last day on which the waiver is in force, as `2026-12-31`."""


Scalar = str | int | float | bool


class Outweighed(msgspec.Struct, frozen=True):
    """A finding as the check made it, before other evidence outweighed it."""

    status: Status
    title: str
    why: str
    next: tuple[NextStep, ...]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One result of a check. The title can be read aloud on a conference call."""

    code: str
    check: str
    status: Status
    title: str
    subject: str = ""
    """The subject of the finding, in a few words for a list: `eth2 rac1 -> rac2`."""
    seen: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    why: str = ""
    next: tuple[NextStep, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    sources: tuple[str, ...] = ()
    """The sources of the rule: `MOS 563566.1, cause 5`."""
    table: Table | None = None
    network: str = ""
    """The name of the private network of the finding; findings on the same network are displayed as joined."""
    nodes: tuple[str, ...] = ()
    extent: Magnitude | None = None
    covers: tuple[str, ...] = ()
    """Of a finding with an extent or lost blocks, the instances or nodes whose numbers it has: those of other ones do
    not compare. Empty in findings of racwire 0.2.0."""
    data: dict[str, Scalar] = msgspec.field(default_factory=dict)
    """The content of the text as named values with the unit in the name (`lost_blocks`, `average_ms`), so that a
    program that reads the JSON does not have to parse sentences."""
    lacks: tuple[Unknown, ...] = ()
    """The facts whose absence makes the finding UNKNOWN, in part or in full, each with its reason."""
    observed: tuple[Observation, ...] = ()
    """What the check saw, as data: the diagnosis compares it with what each cause touches. Empty in findings of saved
    files that were written without it."""
    outweighed: Outweighed | None = None
    """The finding as the check made it, where blocks that flow outweigh its pings (`checks.diagnosis`)."""
    waived: Waived | None = None
    """The waiver, where the finding is waived: it is displayed with a mark, and not counted in the exit code."""


def worst_first(findings: list[Finding]) -> list[Finding]:
    """Return the findings with the worst first and the waived after all other problems, otherwise in their order."""
    return sorted(findings, key=lambda f: (bool(f.waived) or f.status not in PROBLEMS, f.status.gravity))


def by_place(finding: Finding) -> tuple[object, ...]:
    """Return a key for sorting: the worst first, then by code and place. The title comes last: of findings that differ
    in nothing else, it only decides which is printed first."""
    ways = [
        (
            seen.what,
            seen.network,
            seen.nodes,
            seen.nic,
            [(g.networks or (), g.senders or (), g.receivers or ()) for g in seen.legs],
        )
        for seen in finding.observed
    ]
    return finding.status.gravity, finding.code, finding.network, finding.nodes, ways, finding.title


Key = tuple[str, str, str, tuple[str, ...], int]
"""Check, code, network, nodes, and a number where a run has several of them."""


def keyed(findings: Iterable[Finding]) -> Iterator[tuple[Key, Finding]]:
    """Yield each finding with its key. Findings of one kind and place are numbered, the worst first, then by what they
    saw: the order in which checks ended has no influence."""
    every = tuple(findings)
    alike: dict[tuple[str, str, str, tuple[str, ...]], list[int]] = {}
    for number, finding in enumerate(every):
        alike.setdefault((finding.check, finding.code, finding.network, finding.nodes), []).append(number)
    keys: dict[int, Key] = {}
    for what, numbers in alike.items():
        if len(numbers) > 1:
            numbers.sort(key=lambda one: by_place(every[one]))
        keys |= {number: (*what, place) for place, number in enumerate(numbers)}
    for number, finding in enumerate(every):
        yield keys[number], finding


def could_not_look(findings: Iterable[Finding], at: Finding) -> bool:
    """Return whether a run with these findings could not check the place of a finding of another run."""
    return any(
        other.status is Status.UNKNOWN
        and other.check == at.check
        and (not (other.network or other.nodes) or _same_place(other, at))
        for other in findings
    )


def _same_place(one: Finding, other: Finding) -> bool:
    return (bool(one.network) and one.network == other.network) or bool(set(one.nodes) & set(other.nodes))

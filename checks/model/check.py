"""Checks and their declaration.

A check is a pure function from `Cluster` to findings. It declares the groups of facts that it needs and the kinds of
findings that it can make. Each kind has a stable code, which is never reused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from itertools import islice
from typing import ClassVar

import msgspec

from checks.model.condition import ConditionKind
from checks.model.facts import FACT_GROUPS, Cluster, Unknown, Unread
from checks.model.finding import EvidenceRef, Finding, Magnitude, NextStep, Scalar, Status, Table, step_for
from checks.model.observation import Fate, Observation

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)*-\d{3}")


_MOST_FINDINGS = 20_000
"""Findings of one check; a check that makes more has a loop without an end. Ours: 100 nodes have 9,900 paths."""


class PluginError(Exception):
    """The declaration of a check is wrong: one sentence for the author of the check."""


@dataclass(frozen=True)
class Kind:
    """A kind of finding, as `racwire explain CODE` prints it.

    A subclass declares the status of its findings. Where it depends on what was found, the kind is a plain `Kind`, and
    a function of `checks/rules` chooses. Raises PluginError where the code does not have the form AREA-NAME-001.
    """

    code: str
    title: str
    """The meaning of all findings of this kind, in a few words."""
    why: str = ""
    """The consequence; the default for each finding of this kind."""
    sources: tuple[str, ...] = ()
    status: ClassVar[Status | None] = None
    """The status of a finding that gets no other; None where each gets its own."""

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise PluginError(f"The code {self.code!r} does not have the form AREA-NAME-001.")

    def finding(
        self,
        title: str,
        *,
        status: Status | None = None,
        subject: str = "",
        seen: Iterable[str] = (),
        expected: Iterable[str] = (),
        why: str = "",
        next: Iterable[NextStep] = (),  # noqa: A002 - the word on the screen
        evidence: Iterable[tuple[str, str]] = (),
        table: Table | None = None,
        network: str = "",
        nodes: Iterable[str] = (),
        extent: tuple[float, str] | None = None,
        data: Mapping[str, Scalar | None] | None = None,
        lacks: Iterable[Unread] = (),
        observed: Iterable[Observation] | None = None,
    ) -> Finding:
        """Return a finding of this kind; `evidence` has (node, topic) pairs of the journal.

        `status` is from a rule, or SKIPPED or UNKNOWN where the check could not look. Raises PluginError where neither
        the finding nor the kind has one.

        `extent` is the magnitude of the problem with its unit: `(0.5, "% of packets lost")`. Higher is worse. Use a
        share, a rate or a number of things, which does not depend on the length of the measurement. A waiver of the
        finding is lifted when the extent rises, and `racwire diff` reports the change.

        `data` has the content of the text for programs: named scalars with the unit in the name, `{"lost_blocks": 37}`.
        Values that are None are left out.

        `lacks` has the facts that an UNKNOWN finding lacks. Its next steps start with the rights that these need.

        `observed` has the packets and counters that the finding is about. None is for a finding about a state, which
        was read on `nodes`, or on the network as a whole; an UNKNOWN or SKIPPED finding observed nothing.
        """
        status = status or self.status
        if status is None:
            raise PluginError(f"A finding of {self.code} has no status: the kind declares none.")
        at = tuple(nodes)
        seen_as_data = self._state(status, network, at) if observed is None else tuple(observed)
        missing = tuple(dict.fromkeys(Unknown(fact.reason, fact.right) for fact in lacks))
        rights = dict.fromkeys(fact.right for fact in missing if fact.right)
        return Finding(
            code=self.code,
            check="",
            status=status,
            title=title,
            subject=subject,
            seen=tuple(seen),
            expected=tuple(expected),
            why=why or self.why,
            next=(*map(step_for, rights), *next),
            evidence=tuple(EvidenceRef(node, topic) for node, topic in evidence),
            sources=self.sources,
            table=table,
            network=network,
            nodes=at,
            extent=Magnitude(float(f"{extent[0]:.4g}"), extent[1]) if extent else None,
            data={name: value for name, value in (data or {}).items() if value is not None},
            lacks=missing,
            observed=seen_as_data,
        )

    def _state(self, status: Status, network: str, nodes: tuple[str, ...]) -> tuple[Observation, ...]:
        if status in (Status.UNKNOWN, Status.SKIPPED):
            return ()
        return (Observation(fate=Fate.STATE, what=self.code, nodes=nodes, network=network),)


class FailKind(Kind):
    """A kind whose findings are failures."""

    status = Status.FAIL


class WarnKind(Kind):
    """A kind whose findings are warnings."""

    status = Status.WARN


class InfoKind(Kind):
    """A kind whose findings an operator may want to know; none is a problem."""

    status = Status.INFO


class PassKind(Kind):
    """A kind whose findings say that all is as it must be."""

    status = Status.PASS


class UnknownKind(Kind):
    """A kind whose findings say that a fact is not known which decides."""

    status = Status.UNKNOWN


class SkippedKind(Kind):
    """A kind whose findings say that there was nothing to check, or that it was not wanted."""

    status = Status.SKIPPED


Judge = Callable[[Cluster], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """A declared check."""

    id: str
    question: str
    """The question that the check answers, for lists: "Do full-size packets pass, both ways?"."""
    needs: tuple[str, ...]
    """The required groups of facts, out of `FACT_GROUPS`: where one of them is Unknown, the result is UNKNOWN."""
    kinds: tuple[Kind, ...]
    judge: Judge = field(repr=False)
    uses: tuple[str, ...] = ()
    """Optional groups of facts: the check uses them where they are known."""
    only_ipv4: str = ""
    """Why the check says nothing about private networks of IPv6; empty where it judges them too."""
    shows: tuple[ConditionKind, ...] = ()
    """The kinds of conditions that its PASS shows to be well, and its UNKNOWN not to be known."""
    about: tuple[ConditionKind, ...] = (ConditionKind.SETUP,)
    """The kinds of conditions that its findings rest on, those first that it shows: an event that changes one of them
    outdates the findings."""

    @property
    def page(self) -> str:
        """The documentation that `racwire explain` prints."""
        return getdoc(self.judge) or self.question

    def run(self, cluster: Cluster) -> tuple[Finding, ...]:
        """Judge a cluster. Raises PluginError where the findings do not match the declaration, and any error of the
        check itself."""
        made = islice(self.judge(cluster), _MOST_FINDINGS + 1)
        findings = tuple(msgspec.structs.replace(f, check=self.id) for f in made)
        if len(findings) > _MOST_FINDINGS:
            raise PluginError(f"The check {self.id} made more than {_MOST_FINDINGS:,} findings.")
        declared = {kind.code for kind in self.kinds}
        undeclared = sorted({f.code for f in findings} - declared)
        if undeclared:
            raise PluginError(f"The check {self.id} made findings that it does not declare: {', '.join(undeclared)}.")
        if not findings:
            raise PluginError(f"The check {self.id} made no finding; a check that finds no fault must report PASS.")
        return findings


def check(
    id: str,  # noqa: A002
    *,
    question: str,
    needs: Iterable[str],
    kinds: Iterable[Kind],
    uses: Iterable[str] = (),
    only_ipv4: str = "",
    shows: Iterable[ConditionKind] = (),
    about: Iterable[ConditionKind] = (),
) -> Callable[[Judge], Check]:
    """Declare a check; its docstring becomes the page of `racwire explain`.

    `shows` are the kinds of conditions that its PASS shows to be well, `about` the further kinds whose change makes its
    sentences unknown. A check without either rests on the setup of the nodes alone, which no event but the silence of a
    node changes.

    Raises PluginError when the id is not kebab-case, a needed group of facts does not exist, or a kind is not a `Kind`.
    """
    needed, used, declared, shown = tuple(needs), tuple(uses), tuple(kinds), tuple(shows)
    if not _ID.fullmatch(id):
        raise PluginError(f"The check id {id!r} is not kebab-case.")
    for group in needed + used:
        if group not in FACT_GROUPS:
            raise PluginError(f"The check {id} needs {group!r}, which is not one of {', '.join(FACT_GROUPS)}.")

    if other := next((kind for kind in declared if not isinstance(kind, Kind)), None):
        raise PluginError(f"The check {id} declares {other!r}, which is not a kind of finding.")

    def declare(judge: Judge) -> Check:
        rests_on = (*shown, *about) or (ConditionKind.SETUP,)
        return Check(id, question, needed, declared, judge, used, only_ipv4, shown, rests_on)

    return declare

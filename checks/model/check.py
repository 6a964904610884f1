"""What a check is and how it is declared.

A check is a pure function from `Cluster` to findings. It declares which groups of facts it needs and which kinds of
finding it can make; each kind has a stable code that is never used again for anything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc

import msgspec

from checks.model.facts import FACT_GROUPS, Cluster
from checks.model.finding import EvidenceRef, Finding, Magnitude, Remedy, Scalar, Status, Table

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)*-\d{3}")


class PluginError(Exception):
    """A check is not declared as it must be: one sentence for its author."""


@dataclass(frozen=True)
class Kind:
    """A kind of finding, as `racwire explain CODE` tells it."""

    code: str
    title: str
    """What it says in general, in a few words."""
    why: str = ""
    """Why it matters; stands in each finding of this kind unless that says it better."""
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise PluginError(f"The code {self.code!r} is not of the form AREA-NAME-001.")

    def finding(
        self,
        status: Status,
        title: str,
        *,
        subject: str = "",
        seen: Iterable[str] = (),
        expected: Iterable[str] = (),
        why: str = "",
        next: Iterable[Remedy] = (),  # noqa: A002 - the word on the screen
        evidence: Iterable[tuple[str, str]] = (),
        table: Table | None = None,
        network: str = "",
        nodes: Iterable[str] = (),
        extent: tuple[float, str] | None = None,
        data: Mapping[str, Scalar | None] | None = None,
    ) -> Finding:
        """A finding of this kind; `evidence` are (node, topic) pairs of the journal.

        `extent` tells how bad it is, where a number does, with what it counts: `(0.5, "% of packets lost")`. Higher is
        worse. Give a share, a rate or a number of things, which stays the same while nothing changes, however long it
        is looked at. A waiver of the finding is lifted when it rises, and `racwire diff` tells of it.

        `data` says the same as the text for programs: named scalars with the unit in the name, `{"lost_blocks": 37}`.
        What is None is left out.
        """
        return Finding(
            code=self.code,
            check="",
            status=status,
            title=title,
            subject=subject,
            seen=tuple(seen),
            expected=tuple(expected),
            why=why or self.why,
            next=tuple(next),
            evidence=tuple(EvidenceRef(node, topic) for node, topic in evidence),
            sources=self.sources,
            table=table,
            network=network,
            nodes=tuple(nodes),
            extent=Magnitude(float(f"{extent[0]:.4g}"), extent[1]) if extent else None,
            data={name: value for name, value in (data or {}).items() if value is not None},
        )


Judge = Callable[[Cluster], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """A declared check."""

    id: str
    question: str
    """The question it answers, for lists: "Do full-size packets pass, both ways?"."""
    needs: tuple[str, ...]
    """The groups of facts it cannot judge without, out of `FACT_GROUPS`: where one is Unknown, so is its answer."""
    kinds: tuple[Kind, ...]
    judge: Judge = field(repr=False)
    uses: tuple[str, ...] = ()
    """Further groups that it judges as far as they are known."""

    @property
    def page(self) -> str:
        """Its documentation, shown by `racwire explain`."""
        return getdoc(self.judge) or self.question

    def run(self, cluster: Cluster) -> tuple[Finding, ...]:
        """Judge a cluster. Raises PluginError when the check breaks its own declaration, or whatever it raises."""
        findings = tuple(msgspec.structs.replace(f, check=self.id) for f in self.judge(cluster))
        declared = {kind.code for kind in self.kinds}
        undeclared = sorted({f.code for f in findings} - declared)
        if undeclared:
            raise PluginError(f"The check {self.id} made findings that it does not declare: {', '.join(undeclared)}.")
        if not findings:
            raise PluginError(f"The check {self.id} concluded nothing; a check that finds no fault must say PASS.")
        return findings


def check(
    id: str,  # noqa: A002
    *,
    question: str,
    needs: Iterable[str],
    kinds: Iterable[Kind],
    uses: Iterable[str] = (),
) -> Callable[[Judge], Check]:
    """Declare a check; its docstring becomes the page of `racwire explain`.

    Raises PluginError when the id is not kebab-case or a needed group of facts does not exist.
    """
    needed, used = tuple(needs), tuple(uses)
    if not _ID.fullmatch(id):
        raise PluginError(f"The check id {id!r} is not kebab-case.")
    for group in needed + used:
        if group not in FACT_GROUPS:
            raise PluginError(f"The check {id} needs {group!r}, which is none of {', '.join(FACT_GROUPS)}.")

    def declare(judge: Judge) -> Check:
        return Check(id, question, needed, tuple(kinds), judge, used)

    return declare

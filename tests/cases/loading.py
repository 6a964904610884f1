"""The case book: the format of a case file, and the comparison with a report.

`README.md` in this directory explains the format.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from checks.model.finding import PROBLEMS, Finding, Status
from checks.model.hypothesis import Certainty, Hypothesis
from checks.model.report import Report, exit_code
from tests.cases.making import Make
from tests.cases.path_parts import Table, several

DIRECTORY = Path(__file__).parent


class Expected(Table, frozen=True, kw_only=True):
    """A finding that the report must contain. `*` in a title matches any text."""

    code: str
    status: Status
    check: str = ""
    title: str = "*"
    subject: str = "*"
    nodes: tuple[str, ...] | None = None
    network: str | None = None
    says: tuple[str, ...] = ()
    """Texts that must be anywhere in the finding."""
    says_not: tuple[str, ...] = ()
    offers_change: bool | None = None
    """Whether one of its next steps changes the cluster."""

    def is_met_by(self, finding: Finding) -> bool:
        """Whether the finding is the expected one."""
        whole = text_of(finding)
        return (
            (finding.code, finding.status) == (self.code, self.status)
            and self.check in ("", finding.check)
            and fnmatchcase(finding.title, self.title)
            and fnmatchcase(finding.subject, self.subject)
            and self.nodes in (None, finding.nodes)
            and self.network in (None, finding.network)
            and all(text in whole for text in self.says)
            and not any(text in whole for text in self.says_not)
            and self.offers_change in (None, any(remedy.is_change for remedy in finding.next))
        )


class ExpectedCause(Table, frozen=True, kw_only=True):
    """A cause with which the diagnosis must begin, at its place in the order of the case."""

    cause: str | tuple[str, ...]
    """The code of the cause; several where the evidence cannot tell them apart."""
    standing: Certainty | None = None
    place: str = "*"
    """The subject of a finding that shows the cause; `*` matches any text."""
    nodes: tuple[str, ...] | None = None
    network: str | None = None

    @property
    def causes(self) -> tuple[str, ...]:
        """The codes, any of which is right."""
        return several(self.cause)

    def fits(self, hypothesis: Hypothesis, report: Report) -> bool:
        """Whether the hypothesis is the cause at the right place, with any standing that is in the first lines."""
        return (
            hypothesis.cause in self.causes
            and hypothesis.standing in (Certainty.PROVED, Certainty.SUPPORTED)
            and (self.place == "*" or any(fnmatchcase(place, self.place) for place in _places(hypothesis, report)))
            and (self.nodes is None or set(self.nodes) <= set(hypothesis.nodes))
            and (self.network is None or self.network in hypothesis.networks)
        )

    def is_met_by(self, hypothesis: Hypothesis, report: Report) -> bool:
        """Whether the hypothesis is the expected one."""
        return self.fits(hypothesis, report) and self.standing in (None, hypothesis.standing)


def _places(hypothesis: Hypothesis, report: Report) -> tuple[str, ...]:
    return (hypothesis.place.text, *(finding.subject for finding in report.findings_of(hypothesis.shown_by)))


class Expect(Table, frozen=True, kw_only=True):
    """The expected result of a run: each of these findings, and no other problem."""

    exit_code: int
    findings: tuple[Expected, ...] = ()
    also: tuple[str, ...] = ()
    """Codes of problems that the report may contain; `*` matches any text."""
    causes: tuple[str, ...] | None = None
    """The codes of the proved and the supported causes, in the order of the report."""
    cause: tuple[ExpectedCause, ...] = ()
    """The causes with which the diagnosis begins, in this order."""
    excluded: tuple[str, ...] = ()
    """The codes of causes that must be excluded."""
    possible: tuple[str, ...] = ()
    """The codes of causes that a finding makes possible."""
    unexplained: int | None = None
    """The number of effects that none of these causes explains."""
    lost: tuple[tuple[str, str], ...] = ()
    """Receiver and sender of lost blocks on the practice cluster, where the number is not known before."""

    @property
    def first(self) -> tuple[ExpectedCause, ...]:
        """The causes with which the diagnosis begins."""
        return self.cause or tuple(ExpectedCause(cause=code) for code in self.causes or ())


class MustNot(Table, frozen=True, kw_only=True):
    """Findings and phrases that the report must not contain."""

    codes: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    phrases: tuple[str, ...] = ()


class Case(Table, frozen=True, kw_only=True):
    """One fault, or one healthy variant, and the expected report."""

    title: str
    make: Make
    expect: Expect
    must_not: MustNot = MustNot()
    sample: bool = False
    """Whether `make test` also runs this case of the practice cluster."""
    order: int = 0
    """Order among cases that share a practice cluster: cases that leave traces have a higher number."""
    name: str = ""
    """The file name without its suffix."""

    @property
    def is_healthy(self) -> bool:
        """Whether the case is a variant that must cause no alarm."""
        return "healthy" in self.name

    def faults_of(self, report: Report, noise: Iterable[str] = ()) -> list[str]:
        """Return the differences from the expected report, a line each; an empty list when there are none."""
        return list(self._faults(report, {*noise, *self.expect.also}))

    def _faults(self, report: Report, tolerated: set[str]) -> Iterator[str]:
        for expected in self.expect.findings:
            if not any(expected.is_met_by(finding) for finding in report.findings):
                yield f"not found: {expected}"
        for finding in report.findings:
            whole = text_of(finding)
            is_expected = any(expected.is_met_by(finding) for expected in self.expect.findings)
            # Each check says of a node that could not be read that it does not know it.
            of_unread = bool(finding.nodes) and {*finding.nodes} <= {n.name for n in report.cluster.unread_nodes()}
            is_expected |= finding.status is Status.UNKNOWN and of_unread
            if finding.status in PROBLEMS and not _is_tolerated(finding, tolerated) and not is_expected:
                yield f"not expected: {finding.status} {finding.code} {finding.title}"
            if finding.code in self.must_not.codes or finding.status in self.must_not.statuses:
                yield f"must not be found: {finding.status} {finding.code} {finding.title}"
            yield from (f"must not be in the report: {p!r} in {whole}" for p in self.must_not.phrases if p in whole)
        # A cause at several places is one here.
        found = list(
            dict.fromkeys(h.cause for h in report.diagnosis.with_standing(Certainty.PROVED, Certainty.SUPPORTED))
        )
        if self.expect.causes is not None and found != list(self.expect.causes):
            yield f"causes {', '.join(found) or 'none'}"
        possible = {h.cause for h in report.diagnosis.with_standing(Certainty.POSSIBLE) if h.because}
        yield from (f"not possible by a finding: {code}" for code in self.expect.possible if code not in possible)
        unexplained = [finding.title for finding in report.findings_of(report.diagnosis.unexplained)]
        if self.expect.unexplained is not None and len(unexplained) != self.expect.unexplained:
            yield f"unexplained: {'; '.join(unexplained) or 'nothing'}"
        if not self.expect.findings and found:
            yield f"causes of a healthy cluster: {', '.join(found)}"
        code = exit_code(report)
        if code != self.expect.exit_code and not any(
            _is_tolerated(finding, tolerated) and finding.status in PROBLEMS for finding in report.findings
        ):
            yield f"exit code {code}"


def _is_tolerated(finding: Finding, codes: Iterable[str]) -> bool:
    return any(fnmatchcase(finding.code, code) for code in codes)


def text_of(finding: Finding) -> str:
    """Return all texts of a finding, a line each."""
    table = [" ".join(row) for row in finding.table.rows] if finding.table else []
    steps = [line for remedy in finding.next for line in (remedy.text, remedy.where, *remedy.commands)]
    return "\n".join(
        [
            finding.title,
            finding.subject,
            *finding.seen,
            *finding.expected,
            finding.why,
            *steps,
            *finding.sources,
            *table,
        ]
    )


def load(file: Path) -> Case:
    """Read one case. Raises msgspec.ValidationError for an unknown key or value."""
    case = msgspec.convert(tomllib.loads(file.read_text()), Case)
    return msgspec.structs.replace(case, name=file.stem)


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases, by name."""
    return tuple(load(file) for file in sorted(DIRECTORY.glob("*.toml")))


def fact_cases() -> list[Case]:
    """Return the cases that are made of facts."""
    return [case for case in cases() if case.make.lab is None]


def parameters(*, database: bool) -> list[ParameterSet]:
    """Return the cases of the practice cluster with its nodes and MTU, ordered so that cases can share a cluster."""
    chosen = [case for case in cases() if case.make.lab is not None and bool(case.make.database) == database]
    chosen.sort(key=lambda case: (case.make.nodes, -case.make.mtu, case.order, case.name))
    beyond = pytest.mark.beyond_sample
    return [
        pytest.param((case.make.nodes, case.make.mtu), case, id=case.name, marks=() if case.sample else beyond)
        for case in chosen
    ]

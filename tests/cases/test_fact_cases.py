"""Every case made of facts, judged by all checks: each expected finding, no other problem, nothing false."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from checks.model.effect import Effect
from checks.model.facts import Unknown
from checks.model.finding import PROBLEMS
from checks.model.report import Report
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.run.replay import ReplayedFacts
from tests.cases.loading import DIRECTORY, Case, cases, fact_cases, load
from tests.cases.making import Make
from tests.cases.outcomes import PROPERTY, outcome_of
from tests.support.command_rights import wrong_users

CHECKS = discover()


def report_of(case: Case) -> Report:
    """Return the report of a run on the case."""
    built = case.make.cluster()
    settings = Settings()
    thresholds = msgspec.structs.replace(settings.thresholds, **case.make.thresholds)
    able = (*CHECKS, *(c for c in CHECKS.on_request if all(map(built.is_gathered, c.needs))))
    chosen = [check for check in able if check.id in case.make.checks or not case.make.checks]

    async def judged() -> Report:
        return await ReplayedFacts(built, chosen, msgspec.structs.replace(settings, thresholds=thresholds)).run()

    return asyncio.run(judged())


@pytest.mark.case
@pytest.mark.parametrize("case", fact_cases(), ids=lambda case: case.name)
def test_a_case_has_exactly_its_expected_findings(case: Case, record_property: Callable[[str, object], None]) -> None:
    report = report_of(case)
    record_property(PROPERTY, msgspec.to_builtins(outcome_of(case, report)))
    shown = [f"{f.status} {f.code} {f.title}" for f in report.findings]
    assert case.faults_of(report) == [], "\n".join(shown)
    unjudged = [step.commands for f in report.findings for step in f.next if step.effect is Effect.NOT_JUDGED]
    assert unjudged == []
    assert wrong_users(step for f in report.findings for step in f.next) == []


def test_a_case_with_missing_additional_or_wrong_expectations_fails() -> None:
    case = load(DIRECTORY / "mtu-odd-node.toml")
    report = report_of(case)
    first = case.expect.findings[0]
    wrong = [
        msgspec.structs.replace(first, title="Another title."),
        msgspec.structs.replace(first, nodes=("rac1",)),
        msgspec.structs.replace(first, says=("what it never says",)),
        msgspec.structs.replace(first, says_not=("MTU",)),
        msgspec.structs.replace(first, network="192.168.10.0/24"),
    ]
    for expected in wrong:
        expect = msgspec.structs.replace(case.expect, findings=(expected, *case.expect.findings[1:]))
        faults = msgspec.structs.replace(case, expect=expect).faults_of(report)
        assert [fault.partition(":")[0] for fault in faults] == ["not found", "not expected"]
    fewer = msgspec.structs.replace(case.expect, findings=(), exit_code=0)
    faults = msgspec.structs.replace(case, expect=fewer).faults_of(report)
    # Each problem, the cause of what is now a healthy cluster, and the exit code.
    assert len(faults) == len([f for f in report.findings if f.status in PROBLEMS]) + 2
    assert faults[-1] == "exit code 2"
    for must_not in ({"codes": (first.code,)}, {"statuses": (first.status,)}, {"phrases": ("has MTU 1500",)}):
        forbidden = msgspec.structs.replace(case.must_not, **must_not)
        assert msgspec.structs.replace(case, must_not=forbidden).faults_of(report)


def test_an_unknown_key_is_an_error(tmp_path) -> None:
    text = (DIRECTORY / "mtu-odd-node.toml").read_text()
    (tmp_path / "slip.toml").write_text(text.replace("mtu = 1500", "mtuu = 1500", 1))
    with pytest.raises(msgspec.ValidationError, match="mtuu"):
        load(tmp_path / "slip.toml")


def test_any_field_of_the_facts_can_be_set() -> None:
    nic = {"max_mtu": {"fact": "Unknown", "reason": "not read"}}
    values = {"kernel_release": "3.10.0", "interfaces": {"eth2": nic}, "sysctls": {"net.a": "1"}}
    before, after = Make().cluster(), Make(facts={"nodes": {"rac2": values}}).cluster()
    assert [n.kernel_release for n in after.read_nodes()] == [before.read_nodes()[0].kernel_release, "3.10.0"]
    changed = after.read_nodes()[1]
    assert [i.max_mtu for i in changed.interfaces if i.name == "eth2"] == [Unknown("not read")]
    assert changed.sysctls == {**before.read_nodes()[1].sysctls, "net.a": "1"}


@pytest.mark.parametrize(
    ("values", "error"),
    [({"rac9": {}}, "rac9"), ({"rac1": {"kernel": "5.4"}}, "kernel"), ({"rac1": {"kernel_release": 5}}, "str")],
)
def test_a_field_that_is_not_there_or_has_another_type_is_an_error(values: dict[str, object], error: str) -> None:
    with pytest.raises((KeyError, msgspec.ValidationError), match=error):
        Make(facts={"nodes": values}).cluster()


def test_every_case_says_what_is_wrong_or_that_the_cluster_is_healthy() -> None:
    assert len({case.title for case in cases()}) == len(cases())
    assert [case.name for case in cases() if not case.expect.findings and "healthy" not in case.name] == []

"""Which checks prove that a cause is gone, and what they say about it."""

from __future__ import annotations

from checks.diagnosis.proof import checks_that_prove, outcome_of
from checks.model.finding import Finding, Status
from checks.run.check_discovery import discover


def finding(status: Status, code: str, check: str, *nodes: str, title: str = "") -> Finding:
    return Finding(code=code, check=check, status=status, title=title or f"{code}.", nodes=nodes, network="eth2")


MTU = finding(Status.FAIL, "IC-MTU-002", "mtu-consistency", "rac2", title="eth2 of rac2 has MTU 1500.")
LOST = finding(Status.FAIL, "IC-LOST-002", "gc-blocks-lost", "rac2", title="prac2 lost 28 blocks.")
CHECKS = ("mtu-consistency", "gc-blocks-lost", "df-ping")
FINE = (
    finding(Status.PASS, "IC-MTU-001", "mtu-consistency"),
    finding(Status.PASS, "IC-LOST-001", "gc-blocks-lost"),
    finding(Status.PASS, "IC-PATH-001", "df-ping"),
)


def outcome(*after: Finding) -> str:
    return outcome_of(["CAUSE-05"], [MTU], [MTU, LOST], after, CHECKS)


def test_the_checks_are_those_of_the_findings_and_of_the_catalogue() -> None:
    makers = {code: made[1].id for code, made in discover().kinds().items()}
    assert checks_that_prove(["CAUSE-05"], [MTU, LOST], makers) == (
        "mtu-consistency",
        "gc-blocks-lost",
        "df-ping",
        "effective-route",
    )
    assert checks_that_prove([], [LOST], makers) == ("gc-blocks-lost",)


def test_a_cause_is_verified_where_all_its_checks_pass() -> None:
    said = "Verified: mtu-consistency now passes, and gc-blocks-lost no longer finds its effects."
    assert outcome(*FINE) == said
    other = finding(Status.FAIL, "IC-MTU-002", "mtu-consistency", "rac3", title="eth2 of rac3 has MTU 1500.")
    assert outcome(other, *FINE[1:]).startswith("Verified: mtu-consistency no longer finds it")


def test_it_is_not_fixed_while_a_finding_shows_it_or_another_code_of_the_cause_does() -> None:
    assert outcome(MTU, *FINE[1:]) == "Not fixed: eth2 of rac2 has MTU 1500."
    path = finding(Status.FAIL, "IC-PATH-002", "df-ping", "rac2", title="rac2 cannot send full-size packets.")
    assert outcome(*FINE[:2], path) == "Not fixed: rac2 cannot send full-size packets."


def test_an_effect_that_is_left_is_named_and_a_blind_check_verifies_nothing() -> None:
    assert outcome(FINE[0], LOST) == (
        "The cause is gone: mtu-consistency now passes. Still there: prac2 lost 28 blocks."
    )
    blind = finding(Status.UNKNOWN, "IC-MTU-006", "mtu-consistency", "rac2", title="rac2 could not be read.")
    assert outcome(blind, *FINE[1:]) == "Not verified: rac2 could not be read."

"""Which checks prove that a cause is gone, and what they say about it."""

from __future__ import annotations

import msgspec

from checks.diagnosis.proof import checks_that_prove, outcome_of
from checks.model.finding import Finding, Status
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis, Place
from checks.model.report import Report, make_report
from checks.run.check_discovery import discover
from tests.fixtures.clusters import cluster


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
MAKERS = {code: made[1].id for code, made in discover().kinds().items()}


def key(of: Finding) -> tuple[str, str, str, tuple[str, ...], int]:
    return (of.check, of.code, of.network, of.nodes, 0)


def cause(node: str = "rac2", code: str = "CAUSE-05", *shown: Finding, headline: str = "") -> Hypothesis:
    return Hypothesis(
        cause=code, name="MTU of a node", standing=Certainty.PROVED, entry=1, headline=headline,
        place=Place(networks=("eth2",), nodes=(node,)), shown_by=tuple(map(key, shown)),
    )  # fmt: skip


NODE_MTU = cause("rac2", "CAUSE-05", MTU)
DOWN = msgspec.structs.replace(NODE_MTU, hides=("CAUSE-12", "CAUSE-20"))


def report(*after: Finding, found: tuple[Hypothesis, ...] = ()) -> Report:
    return make_report(
        version="1", started_at="", duration_s=0, cluster=cluster(3), findings=after, journal=(),
        diagnosis=Diagnosis(hypotheses=found),
    )  # fmt: skip


def outcome(*after: Finding, found: tuple[Hypothesis, ...] = (), of: Hypothesis = NODE_MTU) -> str:
    return outcome_of([of], [MTU], [MTU, LOST], report(*after, found=found), CHECKS)


def test_the_checks_are_those_of_the_findings_and_of_the_catalogue() -> None:
    checks = checks_that_prove([NODE_MTU], [MTU, LOST], MAKERS)
    assert checks[:2] == ("mtu-consistency", "gc-blocks-lost")
    assert "df-ping" in checks
    assert checks_that_prove([], [LOST], MAKERS) == ("gc-blocks-lost",)


def test_the_checks_that_look_at_what_the_cause_had_hidden_come_first() -> None:
    hidden = msgspec.structs.replace(NODE_MTU, hides=("CAUSE-73",))
    own, more = (checks_that_prove([one], [MTU, LOST], MAKERS) for one in (NODE_MTU, hidden))
    assert "udp-path" not in own
    assert more.index("udp-path") < more.index("mtu-consistency")
    assert {*own} < {*more}


def test_a_cause_is_verified_where_all_its_checks_pass() -> None:
    said = "Verified: mtu-consistency now passes, and gc-blocks-lost no longer finds its effects."
    assert outcome(*FINE) == said
    other = finding(Status.FAIL, "IC-MTU-002", "mtu-consistency", "rac3", title="eth2 of rac3 has MTU 1500.")
    elsewhere = cause("rac3", "CAUSE-05", other)
    assert outcome(other, *FINE[1:], found=(elsewhere,)).startswith("Verified: mtu-consistency no longer finds it")


def test_it_is_not_fixed_while_a_finding_shows_it_or_the_diagnosis_has_it_at_its_place() -> None:
    assert outcome(MTU, *FINE[1:]) == "Not fixed: eth2 of rac2 has MTU 1500."
    path = finding(Status.FAIL, "IC-PATH-002", "df-ping", "rac2", title="rac2 cannot send full-size packets.")
    still = cause("rac2", "CAUSE-05", path)
    assert outcome(*FINE[:2], path, found=(still,)) == "Not fixed: rac2 cannot send full-size packets."
    assert outcome(*FINE[:2], path, found=(cause("rac2", "CAUSE-12", path),)).startswith("Verified")


def test_an_effect_that_is_left_is_named_and_a_blind_check_verifies_nothing() -> None:
    assert outcome(FINE[0], LOST) == (
        "The cause is gone: mtu-consistency now passes. Still there: prac2 lost 28 blocks."
    )
    blind = finding(Status.UNKNOWN, "IC-MTU-006", "mtu-consistency", "rac2", title="rac2 could not be read.")
    assert outcome(blind, *FINE[1:]) == "Not verified: rac2 could not be read."


def test_what_the_cause_had_hidden_is_said() -> None:
    path = finding(Status.FAIL, "IC-PATH-003", "df-ping", title="Full-size packets are lost.")
    behind = cause("rac2", "CAUSE-12", path, headline="The switch loses full-size packets.")
    said = outcome(*FINE[:2], path, found=(behind,), of=DOWN)
    assert said.startswith("Verified: mtu-consistency now passes")
    assert said.endswith(" Behind it: The switch loses full-size packets.")
    assert outcome(*FINE, of=DOWN).endswith(" Behind it: no other cause was found.")
    unseen = Hypothesis(cause="CAUSE-12", name="x", standing=Certainty.NOT_EXAMINED)
    assert outcome(*FINE, found=(unseen,), of=DOWN).endswith(" Behind it: not examined: CAUSE-12.")
    elsewhere = msgspec.structs.replace(behind, place=Place(networks=("eth1",)))
    assert outcome(*FINE, found=(elsewhere,), of=DOWN).endswith(" Behind it: no other cause was found.")

"""Which checks prove that a cause is gone."""

from __future__ import annotations

import msgspec

from checks.diagnosis.proof import checks_that_prove
from checks.model.finding import Finding, Status
from checks.model.hypothesis import Certainty, Hypothesis, Place
from checks.run.check_discovery import discover


def finding(status: Status, code: str, check: str, *nodes: str, title: str = "") -> Finding:
    return Finding(code=code, check=check, status=status, title=title or f"{code}.", nodes=nodes, network="eth2")


MTU = finding(Status.FAIL, "IC-MTU-002", "mtu-consistency", "rac2", title="eth2 of rac2 has MTU 1500.")
LOST = finding(Status.FAIL, "IC-LOST-002", "gc-blocks-lost", "rac2", title="prac2 lost 28 blocks.")
MAKERS = {code: made[1].id for code, made in discover().kinds().items()}


def key(of: Finding) -> tuple[str, str, str, tuple[str, ...], int]:
    return (of.check, of.code, of.network, of.nodes, 0)


def cause(node: str = "rac2", code: str = "CAUSE-05", *shown: Finding, headline: str = "") -> Hypothesis:
    return Hypothesis(
        cause=code, name="MTU of a node", standing=Certainty.PROVED, entry=1, headline=headline,
        place=Place(networks=("eth2",), nodes=(node,)), shown_by=tuple(map(key, shown)),
    )  # fmt: skip


NODE_MTU = cause("rac2", "CAUSE-05", MTU)


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

"""`racwire check --deep`: the automatic steps after the checks, kept as a session, and once an hour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.model.investigation import By, StepAnswer, StepSaid
from checks.model.report import Report
from checks.model.traffic import Traffic
from checks.report.json_report import from_json
from racwire_lab import LabError
from tests.lab.lab_support import needs_namespaces, needs_nft, run
from tests.lab.node_operator import Operator
from tests.lab.practice_command import Practice
from tui.cli.options import ENTERED

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces, needs_nft]


DEEP = ["check", "--deep", "--interval", "5", "--format", "json"]


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    try:
        practice = Practice(tmp_path_factory.mktemp("deep") / "lab", 3, database=True)
    except LabError as error:
        pytest.skip(f"no practice cluster here: {error}")
    yield practice
    practice.down()


@pytest.fixture
def operator(practice: Practice) -> Iterator[Operator]:
    environment = {name: practice.environment[name] for name in ("HOME", "RACWIRE_LAB_DIR", "XDG_STATE_HOME")}
    operator = Operator(practice.cluster, "rac1", {**environment, ENTERED: "--lab"})
    yield operator
    operator.leave()


def deep(operator: Operator) -> Report:
    """Return the report of the checks with the steps after them."""
    ran = operator.type(DEEP)
    assert ran.out, ran.err
    return from_json(ran.out.encode())


def test_a_loss_that_no_counter_shows_is_followed_by_steps_without_a_person_once_an_hour(
    practice: Practice, operator: Operator
) -> None:
    practice.until_blocks_flow()
    assert deep(operator).sessions == ()
    mac = run(practice.cluster, "rac3", "cat", "/sys/class/net/eth1/address").stdout.strip()
    rules = "add table netdev t; add chain netdev t c { type filter hook ingress device eth1 priority 0; }; "
    rules += f"add rule netdev t c ether saddr {mac} numgen random mod 100 < 8 drop"
    assert not run(practice.cluster, "rac2", "nft", rules).returncode
    (session,) = deep(operator).sessions
    assert session.answers
    assert all(answer.step.by is By.ITSELF and not answer.step.needs_consent for answer in session.answers)
    assert sum(answer.packets for answer in session.answers) <= 20_000
    assert any(answer.said is StepSaid.DONE for answer in session.answers)
    ways = [(f.networks, f.senders, f.receivers) for answer in session.answers for f in _lossy(answer)]
    assert ways
    assert set(ways) == {(("192.168.10.0/24",), ("rac3",), ("rac2",))}
    again = operator.type(DEEP)
    assert "--deep: Steps are made at most once an hour: the next time in " in again.err
    kept = list((Path(practice.environment["XDG_STATE_HOME"]) / "racwire" / "investigations").rglob("*.json"))
    assert len(kept) == 1, "the session of the first time"


def _lossy(answer: StepAnswer) -> Iterator[Traffic]:
    """Yield the UDP packets of which a step saw some lost."""
    for probe, (lost, sent) in zip(answer.step.probes, answer.lost, strict=False):
        if lost * 50 > sent and probe.legs[0].protocols == ("udp",):
            yield probe.legs[0]

"""`racwire lab status --losses`: each block that counts as lost is in the log, with the rule that lost it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from racwire_lab import FAULTS, Lab, LabUsageError, find, up
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.drop_rules import DropRule, ruleset
from racwire_lab.cluster.faults import place
from racwire_lab.cluster.losses import checked_seconds
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import PortId, Shape
from racwire_lab.database.backend import Cancellation
from racwire_lab.database.live import Daemons
from racwire_lab.programs.cache_fusion import loss_log
from racwire_lab.programs.cache_fusion.counters import Counters
from racwire_lab.programs.cache_fusion.messages import Block
from racwire_lab.programs.cache_fusion.requests import Requests
from tests.lab.lab_support import lab_directory, needs_namespaces, needs_nft, until

SHAPE = Shape(3, 9000)
DROPPING = ("loss", "udp-policed", "icmp-policed", "switch-mtu-one-way", "lag-member-mtu", "nic-errors")
ENOUGH = 40


def rules(*faults: str, mtus: dict[PortId, int] | None = None) -> dict[str, DropRule]:
    broken = [place(FAULTS[fault], SHAPE, None, None) for fault in faults]
    return {rule.name: rule for rule in desired(SHAPE, broken, mtus or {}).switch_rules}


@pytest.mark.parametrize("fault", DROPPING)
def test_a_rule_has_the_name_of_its_fault_and_its_place(fault: str) -> None:
    (rule,) = rules(fault).values()
    assert rule.name in (f"{fault}-eth2", f"{fault}-rac2-eth2")
    assert rule.drops


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("switch-mtu", "switch-mtu-rac2-eth2"),
        ("node-mtu", "node-mtu-rac2-eth2"),
        ("split-switch-mtu", "split-switch-mtu-priv2"),
    ],
)
def test_what_a_link_drops_is_counted_before_it(fault: str, name: str) -> None:
    (rule,) = rules(fault).values()
    assert (rule.name, rule.drops) == (name, False)
    assert rule.match.endswith(" ip length > 1500")
    assert f"racwire {name} return\n" in ruleset("bridge", (rule,))


def test_a_port_with_a_small_mtu_is_no_fault_and_counts_too() -> None:
    assert list(rules(mtus={PortId("rac1", 1): 4000})) == ["port-mtu-rac1-eth1"]


@pytest.mark.parametrize("text", ["0", "-1", "81", "nan", "a minute"])
def test_an_interval_that_the_rules_do_not_remember_is_refused(text: str) -> None:
    with pytest.raises(LabUsageError, match="1 to 80 seconds"):
        checked_seconds(text)


def test_a_lost_block_is_taken_for_the_log_once() -> None:
    requests = Requests(Counters(), 1)
    request = requests.open(2, 3, Block.CR, 2, 2, 0, 0.0)
    requests.arrived(request.number, 1, 10, 0)
    requests.answered(request.number, 0b11, 0.1)
    assert list(requests.queries(1.0, 1000)) == []
    assert requests.take_lost() == [(request, 0b10)]
    assert requests.take_lost() == []


def test_the_log_keeps_the_part_before_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_log, "_MOST_BYTES", 300)
    log, request = loss_log.LossLog(str(tmp_path), 1), Requests(Counters(), 1).open(2, 3, Block.CR, 4, 2, 0, 0.0)
    for _ in range(3):
        log.lost([(request, 0b1010)])
    lines = [json.loads(line) for name in (loss_log.BEFORE, loss_log.FILE) for line in _lines(tmp_path / name)]
    assert [line["bit"] for line in lines[-2:]] == [2, 8]
    assert {(line["sender"], line["receiver"], line["network"], line["bytes"]) for line in lines} == {(3, 1, 2, 8192)}


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Lab]:
    with lab_directory(tmp_path / "lab"):
        yield up(nodes=2, mtu=1500, fragment_time_s=2)


def lost_of(cluster: Lab) -> dict[str, int]:
    """The blocks that each instance has lost since its start, as its own counters say."""
    homes = [node_home(cluster.directory, node) for node in cluster.nodes]
    states = Daemons(homes[0], homes).states("everywhere", Cancellation())
    return {state.host: state.statistics["gc blocks lost"] for state in states}


@needs_namespaces
@needs_nft
def test_each_lost_block_is_logged_with_what_lost_it(cluster: Lab) -> None:
    begun_at = time.time()
    before = lost_of(cluster)
    cluster.break_("drop-fragments").break_("small-receive-buffer", node="rac1")
    until(lambda: all(lost_of(cluster)[node] - before[node] >= ENOUGH for node in cluster.nodes), "no blocks are lost")
    running = find()
    assert running is not None
    losses = running.losses(begun_at, time.time())
    after = lost_of(cluster)
    by_rule = {node: sum(x.blocks for x in losses.lost if (x.receiver, x.rule) == (node, RULE)) for node in after}
    total = {node: sum(x.blocks for x in losses.lost if x.receiver == node) for node in after}
    assert all(0 <= after[node] - before[node] - total[node] <= 10 for node in after)  # more are lost meanwhile
    # Fragments are lost on their way to both nodes; only rac1 has no room.
    assert total["rac2"] * 0.9 <= by_rule["rac2"] <= total["rac2"]
    assert losses.no_room.keys() == {"rac1"}
    assert by_rule["rac1"] + losses.no_room["rac1"] == pytest.approx(total["rac1"], abs=10)
    (rule,) = losses.rules
    assert (rule.name, rule.place) == (RULE, "switch")
    assert rule.packets >= sum(by_rule.values())
    counters = {(counter.name, counter.place): counter.packets for counter in losses.kernels}
    assert counters["Udp.RcvbufErrors", "rac1"] >= losses.no_room["rac1"] > counters["Udp.RcvbufErrors", "rac2"] == 0


RULE = "drop-fragments-eth2"


@needs_namespaces
@pytest.mark.skipif(shutil.which("tc") is None, reason="tc is missing on this machine")
def test_the_queues_are_counted(cluster: Lab) -> None:
    cluster.break_("sender-queue")
    running = find()
    assert running is not None
    until(lambda: sum(queue.packets for queue in running.losses(0, 1).queues), "the queue drops nothing")
    assert [(queue.name, queue.place) for queue in running.losses(0, 1).queues] == [("eth2", "rac2")]

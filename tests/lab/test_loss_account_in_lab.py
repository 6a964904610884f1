"""The account of lost blocks against what the rules and the instances of the practice cluster counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

import racwire_lab
from checks.model.facts import Activity
from checks.model.hypothesis import LossAccount
from racwire_lab.cluster.losses import Losses
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice
from tests.simulator.faults import KINDS

INTERVAL_S = "10"
FEW_BLOCKS, SHARE = 3, 0.05
"""By how much an account may differ, whichever is more."""
RECEIVE_BUFFERS, REASSEMBLY = KINDS["small-receive-buffer"].causes, KINDS["small-reassembly-memory"].causes
CASES = [
    (9000, "small-receive-buffer --node rac2", "loss --network 2"),
    (9000, "switch-mtu --node rac1 --network 2", "small-receive-buffer --node rac1"),
    (9000, "node-mtu --node rac2 --network 2", "udp-policed --network 2"),
    (9000, "nic-errors --node rac1 --network 1", "small-receive-buffer --node rac1"),
    (9000, "udp-policed --network 1", "small-receive-buffer --node rac3"),
    (9000, "switch-mtu-one-way --node rac1 --network 2", "loss --network 1"),
    (1500, "drop-fragments --network 2", "small-receive-buffer --node rac1"),
    (1500, "udp-policed --network 2", "small-reassembly-memory --node rac2"),
    (1500, "drop-fragments --network 1", "small-reassembly-memory --node rac3"),
    (1500, "fragments-filtered --network 2", "small-reassembly-memory --node rac1"),
]

pytestmark = [
    needs_namespaces,
    needs_nft,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE ACCOUNT OF LOST BLOCKS WAS NOT TESTED: the extra `lab` is not installed",
    ),
]


@pytest.fixture
def practice(tmp_path: Path, mtu: int) -> Iterator[Practice]:
    practice = Practice(tmp_path / "lab", 3, mtu, database=True, ping_every_s=1.25)
    yield practice
    practice.down()


@pytest.mark.parametrize(("mtu", "one", "other"), CASES, ids=str)
def test_the_account_agrees_with_the_rules_and_the_instances(practice: Practice, one: str, other: str) -> None:
    practice.until_blocks_flow()
    for fault in (one, other):
        practice.lab("break", *fault.split())
    report = practice.check("--interval", INTERVAL_S)
    activity = report.cluster.activity
    assert isinstance(activity, Activity)
    cluster = racwire_lab.find()
    assert cluster is not None
    ends = [datetime.fromisoformat(at).timestamp() for at in (activity.begun_at, activity.ended_at)]
    losses = cluster.losses(*ends)
    true = {node: truth(losses, node) for node in cluster.nodes}
    assert sum(blocks.total() for blocks in true.values()) > 2 * FEW_BLOCKS, "too few blocks were lost"
    said = {account.node: account for account in report.diagnosis.accounts}
    wrong = [line for node, blocks in true.items() if blocks for line in differences(blocks, said.get(node), node)]
    assert not wrong, (wrong, [account.text for account in said.values()], true)


def truth(losses: Losses, node: str) -> Counter[frozenset[str]]:
    """Return the lost blocks of a node by the causes any of which is right, as the practice cluster counted them."""
    found = Counter[frozenset[str]]()
    for lost in (one for one in losses.lost if one.receiver == node):
        kind = next((name for name in KINDS if lost.rule.startswith(f"{name}-")), "")
        found[KINDS[kind].causes if kind else frozenset()] += lost.blocks
    left = found.pop(frozenset(), 0)
    no_room = min(left, losses.no_room.get(node, 0))
    found[RECEIVE_BUFFERS] += no_room
    found[REASSEMBLY] += left - no_room
    return +found


def differences(true: Counter[frozenset[str]], account: LossAccount | None, node: str) -> Iterator[str]:
    """Yield what an account says wrong: what several causes can have lost may belong to each of them."""
    if account is None:
        yield f"no account of the {true.total()} blocks of {node}"
        return
    said = {frozenset(codes.split(" or ")): blocks for codes, blocks in account.explained.items()}
    slack = max(FEW_BLOCKS, SHARE * true.total())
    if abs(account.lost - true.total()) > slack:
        yield f"{account.lost} instead of {true.total()} at {node}"
    for causes, blocks in true.items():
        others = frozenset().union(*(other for other in true if other != causes))
        least = sum(n for codes, n in said.items() if codes & causes and not codes & others)
        most = sum(n for codes, n in said.items() if codes & causes) + account.while_probing
        if not least - slack <= blocks <= most + slack:
            yield f"{least} to {most} instead of {blocks} of {'/'.join(sorted(causes))} at {node}"
    known = frozenset().union(*true)
    if (false := sum(n for codes, n in said.items() if not codes & known)) > slack:
        yield f"{false} of no fault at {node}"

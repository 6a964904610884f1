"""Rare losses drawn by seed on the practice cluster, and healthy ones: placed where they are, and never elsewhere."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from checks.model.investigation import StepSaid
from racwire_lab import LabError
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice
from tests.lab.steps_in_node import answers_of

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces, needs_nft]

SEEDS = range(20)
"""One draw each: a fifth of a percent, half a percent and two percent in turn; every fifth cluster is healthy."""
PLACE = """
async def session(investigator, cluster):
    say(await investigator.make(placing_step(cluster, datagrams=20_000, seconds=240)))
"""


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    try:
        practice = Practice(tmp_path_factory.mktemp("placing") / "lab", 3, database=True)
    except LabError as error:
        pytest.skip(f"no practice cluster here: {error}")
    yield practice
    practice.down()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_loss_is_placed_or_would_need_more(practice: Practice, seed: int) -> None:
    chance = random.Random(seed)
    fault, node, network = (chance.choice(of) for of in (("loss-in", "loss-out"), ("rac1", "rac2", "rac3"), (1, 2)))
    share = ("", "0.2", "0.5", "2", "0.5")[seed % 5]
    if share:
        practice.lab("break", fault, "--node", node, "--network", str(network), "--share", share)
    try:
        (answer,) = answers_of(practice, PLACE, seconds=240)
    finally:
        practice.cluster = practice.cluster.mend()
    assert answer.said is StepSaid.DONE, answer.reason
    placing = answer.placing
    assert placing is not None
    assert not placing.does_all_lose
    if not share:
        assert placing.path is None
    elif placing.path is None:
        assert share == "0.2", "the budget suffices for more"
        assert placing.would_need > placing.sent
    else:
        here, sender, receiver = placing.path
        assert here == f"192.168.{9 + network}.0/24"
        assert node == (receiver if fault == "loss-in" else sender)

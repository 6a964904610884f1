"""What stops a step of guided troubleshooting: more harm than before; not the loss that it looks for."""

from __future__ import annotations

import pytest

from checks.measure.session_harm import SessionHarm
from checks.rules.load_harm import is_beyond
from checks.traffic.samples import CpuTime, Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId


def blocks(at: float, lost: int, instance: int = 1) -> InstanceSample:
    return InstanceSample(
        instance=f"prod{instance}", number=instance, host=f"rac{instance}", at=at, seconds=1.0,
        statistics={"gc blocks lost": lost},
    )  # fmt: skip


def node(at: float, busy: float = 0.1, **counters: int) -> NodeSample:
    named = {name.replace("_", "."): count for name, count in counters.items()}
    return NodeSample(node="rac2", at=at, seconds=1.0, counters=named, cpu=CpuTime(2, 1.0, 1 - busy, 0.0))


def watched(*quiet: object) -> SessionHarm:
    harm = SessionHarm(80.0)
    for event in quiet:
        harm.quiet(event)
    return harm


def test_the_loss_that_it_looks_for_stops_nothing() -> None:
    harm = watched(*(blocks(at, at % 5 == 0) for at in range(600)))
    assert not any(harm.see(blocks(600 + at, at % 5 == 0)) for at in range(60))


def test_three_times_the_mean_of_the_last_ten_minutes_stops_it() -> None:
    harm = watched(*(blocks(at, at % 5 == 0) for at in range(600)))
    signs = [sign for at in range(20) if (sign := harm.see(blocks(600 + at, 1)))]
    assert signs
    assert signs[0] == "prod1 lost 7 blocks in 7 s, more than three times the mean before."


def test_what_was_lost_earlier_than_ten_minutes_ago_does_not_count() -> None:
    harm = watched(*(blocks(at, 5) for at in range(600)), *(blocks(600 + at, 0) for at in range(700)))
    assert any(harm.see(blocks(1300 + at, 1)) for at in range(5))


def test_one_block_lost_where_none_was_before_is_no_harm_yet() -> None:
    harm = watched(*(blocks(at, 0) for at in range(600)))
    assert harm.see(blocks(600, 1)) == ""
    assert harm.see(blocks(601, 1))


def test_the_run_with_which_a_session_begins_counts_as_before() -> None:
    harm = watched()
    harm.usual(1, 30, 30.0, at=0.0)
    assert not any(harm.see(blocks(at, 2)) for at in range(1, 11))


@pytest.mark.parametrize("counter", ["Udp_RcvbufErrors", "Udp_MemErrors", "Softnet_Dropped"])
def test_a_full_receive_buffer_and_a_full_backlog_stop_it(counter: str) -> None:
    harm = watched(*(node(at, **{counter: 0}) for at in range(10)))
    sign = harm.see(node(10, **{counter: 20}))
    assert sign.startswith("rac2: 20 ")
    assert sign.endswith("in 1 s, more than three times the mean before.")


def test_busy_cpus_stop_it_unless_they_were_busy_before() -> None:
    harm = watched(node(0, busy=0.3))
    assert harm.see(node(1, busy=0.9)) == ""
    assert harm.see(node(2, busy=0.9)) == "rac2: its CPUs are 90% busy, over the limit of 80%."
    assert not any(watched(node(0, busy=0.95)).see(node(at, busy=0.95)) for at in range(1, 9))


def test_a_node_that_can_no_longer_be_watched_stops_it_and_one_that_never_could_does_not() -> None:
    gap = Gap(SourceId.node("rac2"), 5.0, "rac2 did not answer within 5 s.")
    assert watched(node(0)).see(gap) == "rac2 can no longer be watched: rac2 did not answer within 5 s."
    assert watched().see(gap) == ""


def test_beyond_is_more_than_three_times_and_more_than_chance() -> None:
    assert not is_beyond(3, 10, before=60, before_s=600)
    assert is_beyond(6, 10, before=60, before_s=600)
    assert not is_beyond(0, 10, before=0, before_s=0)

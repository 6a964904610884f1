"""What kernel drops, transceivers and pause frames show in an investigation: signs, and facts for their checks."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from checks.investigate.outputs.pastes import understand
from checks.investigate.sensed import drop_signs, optic_signs, pause_signs, with_sensed
from checks.investigate.sign_looks import is_light_out
from checks.investigate.steps.scene import Scene
from checks.investigate.steps.senses import SENSES
from checks.model.facts import (
    Cluster,
    CounterChanges,
    DriverCounters,
    DroppedPackets,
    FollowedPackets,
    KernelDrops,
    NodeOptics,
    OpticalLane,
    OpticalLimits,
    OpticalModule,
    UnreadNode,
)
from checks.model.investigation import SessionRecord, SessionStep, StepAnswer, StepSaid
from checks.model.settings import Settings
from checks.model.signs import Sign
from checks.report.consent_words import consent_text
from checks.report.how_found import READ, sessions_of
from checks.report.html.html_page import to_html
from checks.report.report_evidence import Evidence
from checks.run.replay import ReplayedFacts
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import asked, counters
from tests.unit.test_optics import QSFP
from tui.text.session_lines import how_found_lines

NETWORK = "192.168.11.0/24"
LIMITS = OpticalLimits(0.01, 0.016, 0.8, 1.0)


@cache
def facts() -> Cluster:
    return cluster([node(n) for n in (1, 2, 3)])


def steps() -> dict[str, SessionStep]:
    scene = Scene(
        cluster=facts(), network=NETWORK, nodes=("rac1", "rac2"), named=("rac2",), share=0.3, forms=frozenset(),
        addresses=frozenset(),
    )  # fmt: skip
    return {step.declared: step for one in SENSES for step in one.made(scene)}


def drops(*found: DroppedPackets, followed: int = 60, has_reasons: bool = True) -> KernelDrops:
    of = (FollowedPackets("eth2", followed),) if followed else ()
    return KernelDrops("rac2", 6.0, found, of, has_reasons)


def signs(step: SessionStep, found: KernelDrops) -> tuple[set[Sign], set[Sign]]:
    seen, looked = drop_signs(step, found)
    return {at.sign for at in seen}, {at.sign for at in looked}


def test_a_step_that_switches_something_on_is_asked_for_and_follows_datagrams_of_its_own_size():
    step = steps()["kernel-drops"]
    assert step.needs_consent
    assert "root on rac2" in consent_text(step)
    assert step.reads[0].packets.sizes == (8993, 8993)
    assert step.reads[0].packets.receivers == ("rac2",)
    assert steps()["read-optics"].needs_consent
    assert not steps()["pauses-by-class"].needs_consent


def test_a_filter_of_the_node_is_seen_by_the_reason_of_the_packets_that_came_through_the_nic():
    step = steps()["kernel-drops"]
    every = {Sign.NODE_DROPS, Sign.NODE_RULE, Sign.NODE_QDISC}
    filtered = DroppedPackets("NETFILTER_DROP", "nft_do_chain", 60, "eth2")
    assert signs(step, drops(filtered)) == ({Sign.NODE_DROPS, Sign.NODE_RULE}, every)
    assert signs(step, drops(replace(filtered, nic=""))) == (set(), every)
    assert signs(step, drops(DroppedPackets("NO_SOCKET", "__udp4_lib_rcv", 60, "eth2"))) == (set(), every)
    assert signs(step, drops(DroppedPackets("TC_INGRESS", "", 3, "eth2")))[0] == {Sign.NODE_DROPS, Sign.NODE_QDISC}


def test_nothing_is_concluded_without_reasons_or_without_a_packet_at_the_nic():
    step = steps()["kernel-drops"]
    assert signs(step, drops(followed=0)) == (set(), set())
    assert signs(step, drops(DroppedPackets("", "", 60, "eth2"), has_reasons=False)) == (set(), set())


def lit(received: float, **changed: object) -> Cluster:
    module = OpticalModule("eth2", "SFP", lanes=(OpticalLane(1, 0.5, received),), received_limits=LIMITS)
    return replace(facts(), optics=(NodeOptics("rac2", (replace(module, **changed),)),))


def test_light_out_of_the_specification_is_a_sign_and_a_warning_is_none():
    step = steps()["read-optics"]
    assert optic_signs(step, lit(0.001)) == (step.reads, step.reads)
    assert optic_signs(step, lit(0.012)) == ((), step.reads)
    assert optic_signs(step, lit(0.5)) == ((), step.reads)
    assert optic_signs(step, lit(0.5, received_limits=None)) == ((), ())
    assert optic_signs(step, lit(0.0, is_copper=True)) == ((), ())


def paused(driver: str, **counts: int) -> Cluster:
    made = asked(facts(), counters=counters(3))
    changes = made.counters
    assert isinstance(changes, CounterChanges)
    own = tuple(
        replace(c, machine=replace(c.machine, drivers=(DriverCounters("eth2", counts, driver),))) for c in changes.nodes
    )
    return replace(made, counters=replace(changes, nodes=own))


def test_pause_frames_are_a_sign_where_they_stop_the_class_of_the_packets():
    step = steps()["pauses-by-class"]
    assert pause_signs(step, paused("mlx5_core", rx_prio3_packets=900, rx_prio3_pause=4)) == (step.reads, step.reads)
    assert pause_signs(step, paused("mlx5_core", rx_prio0_packets=900, rx_prio3_pause=4)) == ((), step.reads)
    assert pause_signs(step, paused("ixgbe", rx_flow_control_xoff=4))[0] == step.reads
    assert pause_signs(step, paused("of_tomorrow", rx_pause=4)) == ((), ())


def test_a_session_gives_its_facts_to_the_checks_the_last_of_each_node():
    step = steps()["kernel-drops"]
    first, last = drops(followed=1), drops(followed=2)
    record = SessionRecord(
        started_at=0.0,
        cluster="prac",
        run_at=0.0,
        answers=tuple(
            StepAnswer(step=step, said=StepSaid.DONE, at=0.0, facts=of)
            for of in ((first,), (UnreadNode("rac1", "root"),), (last,))
        ),
    )
    found = with_sensed(facts(), record).kernel_drops
    assert isinstance(found, tuple)
    assert set(found) == {last, UnreadNode("rac1", "root")}
    assert not with_sensed(facts(), record).is_gathered("optics")


def test_pasted_light_of_a_divided_port_and_limits_of_zero_are_no_sign():
    text = QSFP.replace("0.0001 mW / -40.00 dBm", "0.7000 mW / -1.55 dBm")
    (port,) = understand(text).ports
    assert len(port.optics) == 4
    assert is_light_out(port) is False
    (dim,) = understand(text.replace("0.7682 mW / -1.15 dBm", "0.0100 mW / -20.00 dBm")).ports
    assert is_light_out(dim) is True


async def test_the_end_of_a_session_names_what_the_checks_find_in_what_its_steps_read():
    found = drops(DroppedPackets("NETFILTER_DROP", "nft_do_chain", 60, "eth2"))
    answer = StepAnswer(step=steps()["kernel-drops"], said=StepSaid.DONE, at=0.0, facts=(found,))
    record = SessionRecord(started_at=0.0, cluster="prac", run_at=0.0, answers=(answer,))
    report = replace(await ReplayedFacts(facts(), (), Settings()).run(), cluster=facts())
    report = replace(report, sessions=(record, replace(record, answers=())))
    (found, nothing) = sessions_of(report)
    lines = ["".join(text for text, _ in line) for line in how_found_lines(found, 100)]
    dropped = "The kernel of rac2 dropped 60 of 60 packets that eth2 received on 192.168.11.0"
    assert lines[lines.index(READ) + 1].startswith(f"FAIL    {dropped}")
    assert dropped in to_html(Evidence(report)).decode()
    assert not nothing.read

"""`racwire measure rate`, `hashes` and `mix` on the practice cluster: a slow port, a dead member, what can answer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import msgspec
import pytest

from checks.model.measured_rate import MeasuredRate, RateStep
from checks.model.measurement import MeasuredHashes, MeasuredMix, Measurement
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, needs_namespaces]
beyond = pytest.mark.beyond_sample


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("rate") / "lab", 2, 9000, rate="1g")
    yield one
    one.down()


def measure(practice: Practice, *words: str) -> subprocess.CompletedProcess[str]:
    return practice.racwire("measure", words[0], "--lab", *words[1:], "--format", "json")


def measured(practice: Practice, *words: str) -> Measurement:
    ran = measure(practice, *words, "--go", "practice")
    assert ran.returncode in (0, 3), ran.stderr
    found = msgspec.json.decode(ran.stdout.encode(), type=Measurement)
    assert not found.stopped
    return found


def steps(found: Measurement, protocol: str, *, is_towards_here: bool) -> list[RateStep]:
    assert isinstance(found.result, MeasuredRate)
    return [one for one in found.result.steps if (one.protocol, one.is_towards_here) == (protocol, is_towards_here)]


@beyond
def test_a_slow_port_is_the_slow_direction_of_the_path_and_more_than_it_carries_ends_the_measurement(
    practice: Practice,
) -> None:
    practice.lab("break", "slow-port", "--network", "eth1")
    words = ("--on", "192.168.10.0/24", "--share", "50", "--steps", "5,50", "--packets", "20000", "--go", "practice")
    try:
        ran = measure(practice, "rate", *words)
    finally:
        practice.lab("mend", "slow-port")
    assert ran.returncode == 2, ran.stderr
    found = msgspec.json.decode(ran.stdout.encode(), type=Measurement)
    slow, fast = (steps(found, "tcp", is_towards_here=back)[-1] for back in (False, True))
    assert slow.received_bps < 105e6 < fast.received_bps
    (below, above) = steps(found, "udp", is_towards_here=False)
    assert below.received == below.sent > 0
    assert above.received < above.sent
    assert above.cap_bps is not None
    assert above.received_bps < above.cap_bps / 2
    assert not steps(found, "udp", is_towards_here=True)
    assert found.is_harm
    assert "had no answer" in found.stopped


@beyond
def test_a_healthy_path_carries_its_cap_and_loses_nothing(practice: Practice) -> None:
    found = measured(practice, "rate", "--on", "192.168.10.0/24", "--steps", "1,5")
    for back in (False, True):
        for one in steps(found, "udp", is_towards_here=back):
            assert one.received + one.dropped == one.sent > 0
            assert one.cap_bps is not None
            assert one.received_bytes <= one.cap_bps / 8 * one.seconds + 8192  # and one datagram
        assert all(one.received_bytes > 0 for one in steps(found, "tcp", is_towards_here=back))


@pytest.mark.beyond_sample
@needs_nft
@pytest.mark.parametrize("fault", ["lag-member-mtu", pytest.param("lag-member-mtu-of-4", marks=beyond)])
def test_a_dead_member_of_a_lag_is_found_both_ways(practice: Practice, fault: str) -> None:
    practice.lab("break", fault, "--network", "eth1")
    try:
        found = measured(practice, "hashes", "--on", "192.168.10.0/24")
    finally:
        practice.lab("mend", fault)
    assert isinstance(found.result, MeasuredHashes)
    members = 4 if fault.endswith("4") else 2
    for one in found.result.directions:
        assert one.verdict == "some source ports lose every full-size datagram"
        assert one.least_members is not None
        assert one.most_members is not None
        assert one.least_members <= members <= one.most_members
    assert len(found.result.directions) == 2


@beyond
def test_flows_of_each_class_complete_alone_and_together(practice: Practice) -> None:
    found = measured(practice, "mix", "--classes", "message,block,medium", "--rounds", "1")
    assert isinstance(found.result, MeasuredMix)
    assert {(one.flow_class, one.company) for one in found.result.rounds} == {
        (name, company) for name in ("message", "block", "medium") for company in ("alone", "together")
    }
    assert all(one.completed == len(one.times_ms) > 0 and not one.broken for one in found.result.rounds)


@beyond
@pytest.mark.parametrize("kind", ["rate", "hashes", "mix"])
def test_without_a_program_on_the_peer_nothing_is_planned(practice: Practice, kind: str) -> None:
    practice.lab("break", "no-perl")
    try:
        planned = measure(practice, kind)
        practice.lab("break", "no-far-end")
        refused = measure(practice, kind)
    finally:
        practice.lab("mend")
    assert json.loads(planned.stdout)["paths"][0]["far_end"] == "python"
    assert refused.returncode == 64
    assert "rac2 has no Perl or Python where racwire looks" in refused.stderr
    assert "Leave out --far-end" not in refused.stderr

"""Results of iperf3 and sadf for the network: each interval, and a note of values that they cannot measure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checks.traffic.compare.run import Better, ComparedRun, ImportProblem, Measured
from checks.traffic.imports.iperf3 import parse_iperf3
from checks.traffic.imports.sadf import parse_sadf
from tests.unit.test_imported_results import SAMPLES, values

TCP, UDP = SAMPLES["iperf3_tcp.json"], SAMPLES["iperf3_udp_stream.json"]


def metric(run: ComparedRun, name: str) -> Measured:
    return next(m for m in run.measured if m.name == name)


def changed(text: str, **top: Any) -> str:
    return json.dumps({**json.loads(text), **top})


# iperf3


def test_intervals_are_values_without_the_omitted_and_the_incomplete_last_one() -> None:
    run = parse_iperf3(TCP, "a")
    assert values(run)["TCP sent"] == (9000, 9100, 9050)
    assert values(run)["TCP retransmits"] == (0, 4, 0)
    assert run.begun_at == "2026-11-20T13:02:31+00:00"


def test_tcp_is_a_control_because_offload_hides_the_mtu() -> None:
    run = parse_iperf3(TCP, "a")
    for name in ("TCP sent", "TCP received"):
        assert metric(run, name).is_control
        assert "does not see the MTU" in metric(run, name).note
    assert not metric(run, "TCP retransmits").is_control


def test_cpu_is_calculated_for_each_gigabit_moved() -> None:
    found = values(parse_iperf3(TCP, "a"))
    assert found["TCP CPU of the sender for each gigabit"] == (pytest.approx(0.03),)
    assert found["TCP CPU of the receiver for each gigabit"] == (pytest.approx(0.06),)


def test_in_reverse_this_host_receives() -> None:
    document = json.loads(TCP)
    document["start"]["test_start"]["reverse"] = 1
    for interval in document["intervals"]:
        interval["sum"]["sender"] = False
    run = parse_iperf3(json.dumps(document), "a")
    assert values(run)["TCP received"] == (9000, 9100, 9050)
    assert values(run)["TCP CPU of the receiver for each gigabit"] == (pytest.approx(0.03),)
    assert run.environment["direction"] == "reverse"


def test_for_udp_the_receiver_reports_the_loss() -> None:
    run = parse_iperf3(UDP, "a")
    assert values(run)["UDP received"] == (990, 980, 1000)
    assert metric(run, "UDP sent").better is Better.NEITHER
    assert not metric(run, "UDP received").is_control
    assert values(run)["UDP jitter"] == (0.01, 0.02, 0.03)


def test_a_loss_of_179_percent_is_limited_and_reported() -> None:
    run = parse_iperf3(UDP, "a")
    assert values(run)["UDP datagrams lost"] == (1.0, 100.0, 0.0)
    assert any("179 %" in warning for warning in run.warnings)


def test_without_the_servers_output_udp_has_only_the_sums_of_the_receiver() -> None:
    text = "\n".join(line for line in UDP.splitlines() if "server_output" not in line)
    found = values(parse_iperf3(text, "a"))
    assert found["UDP sent"] == (1000, 1000, 1000)
    assert found["UDP received"] == (990,)
    assert found["UDP datagrams lost"] == (pytest.approx(59.93, abs=0.01),)


def test_of_a_bidirectional_test_both_directions_are_reported() -> None:
    document = json.loads(TCP)
    document["start"]["test_start"]["bidir"] = 1
    for interval in document["intervals"]:
        interval["sum_bidir_reverse"] = {**interval["sum"], "sender": False, "bits_per_second": 5e9}
    run = parse_iperf3(json.dumps(document), "a")
    assert values(run)["TCP sent"] == (9000, 9100, 9050)
    assert values(run)["TCP (reverse) received"] == (5000, 5000, 5000)
    assert run.environment["direction"] == "both"
    assert not any("CPU" in m.name for m in run.measured)


def test_parameters_of_the_test_must_be_equal() -> None:
    assert parse_iperf3(UDP, "a").environment == {
        "protocol": "UDP",
        "version": "iperf 3.16",
        "streams": "1",
        "block size": "8192 bytes",
        "duration": "3 s",
        "omitted at the beginning": "1 s",
        "target rate": "1000000000 b/s",
        "direction": "forward",
        "server": "192.168.10.2",
    }


@pytest.mark.parametrize(
    "text",
    [
        changed(TCP, error="unable to connect to server: Connection refused"),
        '{"event": "start", "data": {}}\n{"event": "error", "data": "unable to connect to server: Connection refused"}',
    ],
)
def test_a_test_that_failed_is_refused_with_its_error(text: str) -> None:
    with pytest.raises(ImportProblem, match=r"a: iperf3 did not finish: unable to connect to server"):
        parse_iperf3(text, "a")


def test_a_test_without_intervals_is_refused() -> None:
    with pytest.raises(ImportProblem, match="without any interval"):
        parse_iperf3(changed(TCP, intervals=[], end={}), "a")


# sadf


def test_values_are_sorted_by_time_whatever_the_order_in_the_file() -> None:
    run = parse_sadf(SAMPLES["sadf.json"], "a")
    assert values(run)["rac1 eth1 packets sent"] == (10, 20, 30)
    assert run.begun_at == "2026-11-20T12:01:00+00:00"
    assert run.seconds == 180


def test_every_host_is_named_without_its_domain_and_loopback_is_left_out() -> None:
    names = set(values(parse_sadf(SAMPLES["sadf.json"], "a")))
    assert {"rac1 eth1 packets received", "rac2 eth1 packets received"} <= names
    assert not any(" lo " in name or "example.com" in name for name in names)


def test_kilobytes_become_megabits_and_packets_have_a_mean_size() -> None:
    found = values(parse_sadf(SAMPLES["sadf.json"], "a"))
    assert found["rac1 eth1 received"] == (pytest.approx(12.0, abs=0.001),) * 3
    assert found["rac1 eth1 mean packet received"] == (pytest.approx(1500, abs=0.01),) * 3
    assert "rac1 eth1 mean packet sent" not in found


def test_keys_of_different_versions_are_the_same_metric() -> None:
    found = values(parse_sadf(SAMPLES["sadf.json"], "a"))
    assert found["rac1 eth1 share of link speed"] == (1.2, 1.2, 1.2)
    assert found["rac2 eth1 share of link speed"] == (0.5,)


def test_failures_of_reassembly_are_reported_with_the_rounding_of_sysstat() -> None:
    failures = metric(parse_sadf(SAMPLES["sadf.json"], "a"), "rac1 reassembly failures")
    assert (failures.values, failures.better) == ((0.02, 0.04, 0.06), Better.LOWER)
    assert "rounds to 0.01 a second" in failures.note


def test_cpu_and_softnet_cover_all_processors() -> None:
    found = values(parse_sadf(SAMPLES["sadf.json"], "a"))
    assert found["rac1 CPU busy"] == (20, 20, 20)
    assert found["rac1 soft interrupts"] == (3.5, 4.5, 5.5)
    assert found["rac1 softnet time squeezes"] == (2, 2, 2)


def test_a_restart_within_the_samples_is_a_warning_and_an_earlier_one_is_not() -> None:
    assert parse_sadf(SAMPLES["sadf.json"], "a").warnings == ()
    document = json.loads(SAMPLES["sadf.json"])
    document["sysstat"]["hosts"][0]["restarts"][0]["boot"]["time"] = "12:02:30"
    run = parse_sadf(json.dumps(document), "a")
    assert run.warnings == ("rac1 was restarted within this time.",)


def test_a_file_without_figures_says_how_to_print_them() -> None:
    with pytest.raises(ImportProblem, match=r"sadf -j -- -n DEV"):
        parse_sadf('{"sysstat": {"hosts": [{"nodename": "rac1", "statistics": []}]}}', "a")

"""The figures with which `make bench` holds measurements against other instruments, from made-up captures."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from bench.flows_seen import flows_seen
from bench.instruments import halves_differ
from bench.measure_load import fullest
from bench.measure_rate import uncapped
from bench.measure_sizes import rows_of
from bench.measure_stop import last_packet

NEAR, FAR = bytes((192, 168, 10, 1)), bytes((192, 168, 10, 2))


def packet(at_us: int, *, out: bool, sequence: int, payload: bytes = b"", flags: int = 0x10) -> bytes:
    ports = (40_000, 50_000) if out else (50_000, 40_000)
    tcp = struct.pack("!HHIIBBHHH", *ports, sequence, 0, 5 << 4, flags, 0, 0, 0) + payload
    addresses = NEAR + FAR if out else FAR + NEAR
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + addresses + tcp
    frame = b"\0" * 12 + b"\x08\x00" + ip
    return struct.pack("<IIII", at_us // 1_000_000, at_us % 1_000_000, len(frame), len(frame)) + frame


def capture(*packets: bytes) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + b"".join(packets)


def test_flows_are_told_apart_on_one_connection() -> None:
    first = (1 << 32) - 10  # the numbers of a stream wrap
    after = (first + 1) % (1 << 32)
    one, two = struct.pack("!B3xIQ", 0, 1, 200), struct.pack("!B3xIQ", 0, 2, 100)
    seen = list(
        flows_seen(
            capture(
                packet(0, out=True, sequence=first, flags=2),
                packet(1, out=False, sequence=77, flags=0x12),
                packet(2, out=True, sequence=after, payload=b"t" * 16),
                packet(1000, out=True, sequence=(after + 16) % (1 << 32), payload=one + b"\0" * 200),
                packet(1500, out=False, sequence=78, payload=b"a" * 8),
                packet(9000, out=True, sequence=(after + 232) % (1 << 32), payload=two),
                packet(9100, out=True, sequence=(after + 248) % (1 << 32), payload=b"\0" * 100),
                packet(9800, out=False, sequence=86, payload=b"a" * 8),
            ),
            "192.168.10.2",
        )
    )
    assert [(flow.size, round(flow.took_s * 1e6)) for flow in seen] == [(200, 500), (100, 800)]
    assert [round(flow.began_s * 1e6) for flow in seen] == [1000, 9000]


def test_the_last_packet_of_a_capture() -> None:
    assert last_packet(capture(packet(5, out=True, sequence=1), packet(2_500_000, out=True, sequence=2))) == 2.5
    assert last_packet(capture()) == 0.0


def test_the_fullest_second_is_no_shorter_than_a_second() -> None:
    samples = [
        [at, at, 1000.0 * at * (10 if at > 5 else 1), 0.0, 0.0, 0.0] for at in (place / 4 for place in range(40))
    ]
    assert fullest(samples, 0) == pytest.approx(8 * (60_000 - 5000) / 1.0)
    assert fullest(samples[:3], 0) == 0.0


def turns(size: int, *ratios: float, theirs: float = 50.0) -> list[dict[str, Any]]:
    return [
        {
            "size": size, "p50_us": theirs * ratio, "p99_us": 100.0, "sockperf_p50_us": theirs, "sockperf_p99_us": 90.0
        }
        for ratio in ratios
    ]  # fmt: skip


def test_the_worst_size_and_the_median_of_sizes() -> None:
    found = {"turns": turns(64, 1.3, 1.3, 9.0) + turns(512, 1.0, 1.1, 1.1), "measurement": {"disturbed": ""}}
    worst, middle, tail = rows_of(found)
    assert (round(worst.measured or 0), worst.verdict) == (30, "not met")
    assert (round(middle.measured or 0), middle.verdict) == (20, "not met")
    assert (tail.verdict, round(tail.measured or 0, 2)) == ("met", 0.22)


def test_an_instrument_that_differs_from_itself_leaves_a_doubt() -> None:
    found = {
        "turns": turns(64, 1.3) + turns(64, 1.3, theirs=90.0), "measurement": {"disturbed": "late"}
    }  # fmt: skip
    worst, *_ = rows_of(found)
    assert worst.verdict.startswith("could not tell: sockperf itself differed by 80 %")
    assert halves_differ([1.0]) == 0.0


@pytest.mark.parametrize(
    ("cap_bps", "verdict"), [(8e9, "met"), (1.4e9, "not measured: racwire's cap was 1.4 Gb/s, and iperf3 carried 2.0")]
)
def test_a_stream_that_its_own_cap_holds_back_is_not_compared_with_iperf3(cap_bps: float, verdict: str) -> None:
    turns = [
        {"is_towards_here": back, "bps": min(1.9e9, cap_bps), "cap_bps": cap_bps, "iperf3_bps": 2e9}
        for back in (False, True)
    ]
    assert [row.verdict for row in uncapped(turns, "")] == [verdict, verdict]

"""What a result of `measure rate` says: whose the losses are, the private network against the public one, buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from checks.model.measured_rate import MeasuredRate, PublicMtu, RateLimit, RateStep
from checks.model.measurement import MeasuredPath, Measurement
from checks.report.measured.drawings import drawings_of, picture_file
from checks.report.measured.parts import Grid, Prose
from checks.report.measured.result_parts import figures_of
from checks.report.measurement_headline import headline
from checks.traffic.compare.public_ratio import Carried, public_ratios
from tests.unit.measurement_support import measurement, path, rate

PUBLIC = replace(path(1500), network="10.20.0.0", is_public=True)
BOTH = (path(9000), PUBLIC)


def step(number: int, mbps: float, *, on: int = 0, **more: Any) -> RateStep:
    (usual, *_) = rate().result.steps  # type: ignore[union-attr]
    known = {"paths": (on,), "cap_bps": 100e6, "round": number, "seconds": 1.0, "limit": RateLimit.PUBLIC}
    return replace(usual, **{**known, "received_bytes": int(mbps * 1e6 / 8), **more})


def udp(**more: Any) -> RateStep:
    known = {"protocol": "udp", "sent": 1000, "received": 1000, "cap_bps": 1000 * 8192 * 8.0, "lost": 0}
    return step(0, 65.5, **(known | more))


def rounds(private: Sequence[float], public: Sequence[float], **more: Any) -> MeasuredRate:
    return MeasuredRate(
        tuple(
            step(number, mbps, on=on, **more)
            for on, rates in ((0, private), (1, public))
            for number, mbps in enumerate(rates)
        )
    )


def said(result: MeasuredRate, paths: Sequence[MeasuredPath] = BOTH) -> str:
    return "\n".join(part.text for part in figures_of(result, paths) if isinstance(part, Prose))


@pytest.mark.parametrize(
    ("private", "public", "carried"),
    [
        ((99, 99), (99, 98), Carried.BOTH),
        ((99, 99), (50, 51), Carried.PRIVATE),
        ((50, 51), (99, 99), Carried.PUBLIC),
        ((60, 61), (30, 31), Carried.NEITHER),
    ],
)
def test_there_is_a_ratio_only_where_neither_network_met_a_limit(
    private: Sequence[float], public: Sequence[float], carried: Carried
) -> None:
    result = rounds(private, public)
    (one,) = public_ratios(result, BOTH)
    assert one.carried is carried
    assert (one.ratio is not None) is (carried is Carried.NEITHER)
    assert bool(list(drawings_of(made(result)))) is (carried is Carried.NEITHER)
    assert (" times as much as " in said(result)) is (carried is Carried.NEITHER)


def made(result: MeasuredRate) -> Measurement:
    return replace(measurement(result, paths=2), paths=BOTH)


def test_the_ratio_is_that_of_the_rounds_with_an_interval_from_six_on() -> None:
    # Both are slower in the same rounds: the rates differ by half, the ratios hardly.
    private, public = (60, 50, 40, 62, 58, 45), (30, 26, 20, 30, 29, 22)
    (one,) = public_ratios(rounds(private, public), BOTH)
    assert one.ratio == pytest.approx(2.0, abs=0.03)
    assert one.interval == (pytest.approx(50 / 26), pytest.approx(62 / 30))
    assert "(95 %: 1.92 to 2.07, 6 rounds)" in said(rounds(private, public))
    (few,) = public_ratios(rounds(private[:5], public[:5]), BOTH)
    assert few.ratio is not None
    assert few.interval is None
    assert "5 rounds, too few for an interval: --rounds 6" in said(rounds(private[:5], public[:5]))


def test_a_public_network_that_carried_nothing_has_no_ratio() -> None:
    result = rounds((60, 61), (0, 0))
    (one,) = public_ratios(result, BOTH)
    assert (one.ratio, one.interval) == (None, None)
    assert "and the public one nothing" in said(result)
    assert picture_file(made(result)) is None


@pytest.mark.parametrize(("limit", "words"), [(RateLimit.PUBLIC, "a public network"), (RateLimit.PACKETS, "packets a")])
def test_what_both_carried_was_set_by_a_limit(limit: RateLimit, words: str) -> None:
    text = said(rounds((99, 99), (99, 99)))
    assert "Both networks carried what was sent, up to 100.0 Mb/s of payload, the limit on a public network" in text
    steps = tuple(replace(one, limit=limit) for one in rounds((99,), (99,)).steps)
    assert words in said(MeasuredRate(steps))


def test_without_a_public_network_nothing_is_compared() -> None:
    assert list(public_ratios(rate().result, rate().paths)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mtus", "text"),
    [
        ((1500, 1500), "MTU 1500 on all nodes: usual; the interconnect's jumbo frames do not need it to be larger."),
        ((9000, 9000), "MTU 9000 on all nodes; the interconnect does not depend on it."),
        ((1500, 9000), "The MTU of the public network is 1500 on rac1 and 9000 on rac2."),
        ((1500, None), "The MTU of the public network is not known on rac2 and 1500 on rac1."),
    ],
)
def test_the_public_mtu_is_one_sentence(mtus: tuple[int | None, ...], text: str) -> None:
    nodes = tuple(PublicMtu(f"rac{number}", mtu) for number, mtu in enumerate(mtus, 1))
    assert text in said(replace(rounds((99,), (99,)), public_mtus=nodes))


def test_the_buffers_of_both_ends_are_a_table() -> None:
    (*_, grid) = (part for part in figures_of(rate().result, rate().paths) if isinstance(part, Grid))
    assert grid.title == "socket buffers for datagrams, in bytes"
    assert grid.table.rows[0] == ("rac1", "4,194,304", "4,194,304", "212,992", "4,194,304")


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (udp(), "The network lost 0 of 1,000 datagrams."),
        (udp(received=990, lost=10), "The network lost 10 of 1,000 datagrams (1.00 %)."),
        (
            udp(received=496, dropped=504),
            "The network lost 0 of 1,000 datagrams. Of those that did not arrive, the receivers' full sockets dropped "
            "504: racwire's own ends, not the network.",
        ),
        (
            udp(received=900, lost=50, dropped=20, kernel_refused=20, unsent=10, refused=3),
            "The network lost at least 50 of 1,000 datagrams (5.00 %). Of those that did not arrive, the receivers' "
            "full sockets dropped 20, the receivers' kernels and NICs up to 20 and the senders' queues and NICs up to "
            "10: racwire's own ends, not the network. The senders' queues refused 3 more, which never left.",
        ),
        (
            udp(received=993, unknown=7, is_receiver_unread=True),
            "Not known whose: 7 datagrams that did not arrive; the counters of a receiver could not be read.",
        ),
        (
            udp(received=993, unknown=7),
            "Not known whose: 7 datagrams that did not arrive; datagrams still arrived when they were counted last.",
        ),
        (
            udp(received=991, unknown=9, discarded=7),
            "Not known whose: 7 datagrams that did not arrive; the receivers' kernels discarded at least as many "
            "packets of all networks. A rule of a host firewall does that.\nNot known whose: 2 datagrams that",
        ),
        (udp(sent=600, received=600), "The senders sent 60% of what the steps ask for"),
    ],
)
def test_the_losses_add_up_in_words(one: RateStep, text: str) -> None:
    result = MeasuredRate((one,))
    assert text in said(result, (path(9000),))
    assert (one.unknown > 0) is ("not known whose" in headline(measurement(result)))
    assert ("The senders sent" in said(result, (path(9000),))) is (one.sent < 950)

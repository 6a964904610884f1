"""The output of the system's ping, in old and new versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import PingSeries
from checks.sources.probes.ping_command import parse_ping

SOURCE = "192.168.10.1"
HEAD = "PING 192.168.10.2 (192.168.10.2) from 192.168.10.1 : 8972(9000) bytes of data.\n"


def summary(sent: int, received: int, extra: str = "") -> str:
    return (
        "\n--- 192.168.10.2 ping statistics ---\n"
        f"{sent} packets transmitted, {received} received, {extra}0% packet loss, time 4ms\n"
        "rtt min/avg/max/mdev = 0.026/0.043/0.054/0.012 ms\n"
    )


def parse(text: str, *, payload: int = 8972, sent: int = 3) -> PingSeries:
    return parse_ping(text, payload=payload, requested=sent, source_ip=SOURCE).series()


def reply(sequence: int, *, size: int = 8980, tail: str = "") -> str:
    return f"{size} bytes from 192.168.10.2: icmp_seq={sequence} ttl=64 time=0.050 ms{tail}\n"


def test_all_pings_are_answered() -> None:
    series = parse(HEAD + reply(1) + reply(2) + reply(3) + summary(3, 3))
    assert (series.sent, series.received, series.ttl, series.rtt_ms_median) == (3, 3, 64, 0.05)


def test_no_ping_is_answered() -> None:
    series = parse(HEAD + summary(3, 0))
    assert (series.sent, series.received, series.refused_locally, series.errors) == (3, 0, 0, ())


@pytest.mark.parametrize(
    "refusal",
    [
        "ping: local error: message too long, mtu=1500",
        "ping: local error: Message too long, mtu=1500",
        "ping: local error: Message too long, mtu: 1500",
        f"From {SOURCE} icmp_seq=1 Frag needed and DF set (mtu = 1500)",
        f"From {SOURCE}: icmp_seq=1 Frag needed and DF set (mtu = 1500)",
    ],
)
def test_the_local_kernel_refuses(refusal: str) -> None:
    series = parse(HEAD + refusal + "\n" + summary(1, 0, "+1 errors, "), sent=1)
    assert (series.sent, series.refused_locally, series.local_mtu) == (1, 1, 1500)
    assert series.too_big_mtu is None


@pytest.mark.parametrize(
    "answer",
    [
        "From 192.168.10.254 icmp_seq=1 Frag needed and DF set (mtu = 1500)",
        "From 192.168.10.254 (192.168.10.254) icmp_seq=1 Frag needed and DF set (mtu = 1500)",
        "From 192.168.10.254: icmp_seq=1 Packet too big: mtu=1500",
    ],
)
def test_a_router_refuses(answer: str) -> None:
    series = parse(HEAD + answer + "\n" + summary(1, 0, "+1 errors, "), sent=1)
    assert (series.too_big_mtu, series.too_big_from, series.refused_locally) == (1500, "192.168.10.254", 0)


def test_a_router_refuses_and_the_kernel_caches_its_mtu() -> None:
    text = (
        HEAD
        + "From 192.168.10.254 icmp_seq=1 Frag needed and DF set (mtu = 1500)\n"
        + "ping: local error: message too long, mtu=1500\n" * 2
        + summary(3, 0, "+3 errors, ")
    )
    series = parse(text)
    assert (series.too_big_mtu, series.refused_locally, series.local_mtu) == (1500, 2, 1500)


def test_no_answer_to_arp() -> None:
    text = HEAD + f"From {SOURCE} icmp_seq=1 Destination Host Unreachable\n" + summary(3, 0, "+3 errors, ")
    series = parse(text)
    assert series.unreachable_from == SOURCE
    assert series.errors == ("Destination Host Unreachable",)


def test_duplicates_count_once() -> None:
    series = parse(HEAD + reply(1) + reply(1, tail=" (DUP!)") + reply(2) + summary(2, 2, "+1 duplicates, "), sent=2)
    assert (series.sent, series.received) == (2, 2)


def test_an_answer_of_another_size_does_not_count() -> None:
    series = parse(HEAD + reply(1, size=1480) + summary(1, 1), sent=1)
    assert series.received == 0
    assert series.errors


def test_an_answer_with_truncated_data_does_not_count() -> None:
    assert parse(HEAD + reply(1, tail=" (truncated)") + summary(1, 1), sent=1).received == 0


def test_the_queue_of_the_sender_is_full() -> None:
    series = parse(HEAD + "ping: sendmsg: No buffer space available\n" * 2 + summary(3, 0))
    assert series.errors == ("sendmsg: No buffer space available",)


@pytest.mark.parametrize(
    "complaint",
    [
        "ping: connect: Network is unreachable",
        "connect: Network is unreachable",
        "ping: bind: Cannot assign requested address",
        "ping: unknown iface eth9",
    ],
)
def test_a_ping_that_could_not_start_sent_nothing(complaint: str) -> None:
    series = parse(complaint + "\n")
    assert (series.sent, series.received) == (0, 0)
    assert series.errors


def test_ipv6_and_older_wordings() -> None:
    text = (
        "PING fd00::2(fd00::2) from fd00::1 : 56 data bytes\n"
        "64 bytes from fd00::2: icmp_seq=1 ttl=64 time=0.06 ms\n"
        "64 bytes from fd00::2: icmp_req=2 ttl=64 time=0.07 ms\n" + summary(2, 2)
    )
    assert parse(text, payload=56, sent=2).received == 2


def test_a_gap_in_the_middle_is_a_loss() -> None:
    series = parse(HEAD + reply(1) + reply(3) + summary(3, 2))
    assert (series.sent, series.received) == (3, 2)


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *HEAD.splitlines(),
                *reply(1).splitlines(),
                *summary(3, 2).splitlines(),
                "From 192.168.10.254 icmp_seq=1 Frag needed and DF set (mtu = 1500)",
                "ping: local error: message too long, mtu=1500",
            ]
        ),
        st.text(max_size=60),
    )
).map("\n".join)


@given(LINES, st.integers(1, 20))
def test_any_output_is_parsed_and_never_counts_more_than_was_sent(text: str, sent: int) -> None:
    series = parse(text, sent=sent)
    assert 0 <= series.received <= max(series.sent, 0)
    assert 0 <= series.refused_locally <= series.sent - series.received

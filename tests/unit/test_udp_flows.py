"""UDP datagrams: the plan of a path, the sender on loopback, the tables of a node, and a run with made-up shells."""

from __future__ import annotations

import itertools
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import FlowPort, Port, PrivateNetwork
from checks.sources.kernel_files import CLOSED_PORTS
from checks.sources.nodes.read_only import fault_of_command
from checks.sources.nodes.read_only.allow_list import SENDER_TEXT
from checks.sources.probes import udp_sender
from checks.sources.probes.path import Path
from checks.sources.probes.udp_plan import (
    BLOCK_PAYLOAD,
    Receiver,
    UdpEnds,
    closed_port,
    doubtful,
    first_datagrams,
    first_ports,
    later_datagrams,
    parse_answers,
    parse_ends,
    ports_within,
    with_later,
    word,
)

ENDS = """\
/usr/bin/python3
range: 9000\t65500
reserved: 1521,7600-7700
service: spss \t5869/udp  # made up
table:   sl  local_address rem_address
socket: 0035
socket: 2221
Udp: InDatagrams NoPorts InErrors
Udp: 61 7 0
Udp6NoPorts                     \t3
"""


def network(mtu: int = 9000, *nodes: str) -> PrivateNetwork:
    ports = tuple(Port(n, "eth2", f"192.168.11.{n[-1]}") for n in nodes or ("rac1", "rac2"))
    return PrivateNetwork("192.168.11.0/24", "eth2", "192.168.11.0/24", "oifcfg", ports, mtu)


def path(mtu: int = 9000) -> Path:
    own = network(mtu)
    return Path(own, *own.ports, mtu)


# --- the plan ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("interval_s", "ports"), [(1, 6), (5, 8), (12, 12), (30, 12), (600, 12)])
def test_the_interval_limits_the_source_ports(interval_s: float, ports: int) -> None:
    assert ports_within(interval_s) == ports


def test_more_source_ports_than_usual_are_sent_whatever_the_interval() -> None:
    assert ports_within(5, most=64) == 64
    assert ports_within(60, most=8) == 8
    assert first_datagrams(path(), 64)[-1].at_ms < 70_000


def test_a_healthy_path_gets_one_full_size_datagram_from_each_source_port() -> None:
    planned = first_datagrams(path(), 12)
    assert [(d.payload, d.whole, d.source_port) for d in planned] == [(8972, True, 0)] * 12
    assert sorted(d.at_ms for d in planned) == [*range(0, 7 * 1100, 1100), *range(7700, 7825, 25)], "the burst is last"


@pytest.mark.parametrize("ports", range(6, 65))
def test_a_kernel_that_answers_six_at_once_and_one_a_second_answers_all_first_datagrams(ports: int) -> None:
    answers, last_ms = 6.0, 0
    for at_ms in sorted(planned.at_ms for planned in first_datagrams(path(), ports)):
        answers, last_ms = min(6.0, answers + (at_ms - last_ms) / 1000) - 1, at_ms
        assert answers >= 0


def test_where_blocks_are_cut_some_datagrams_have_the_size_of_a_block() -> None:
    planned = first_datagrams(path(1500), 12)
    assert [(d.payload, d.whole) for d in planned] == [(1472, True)] * 9 + [(BLOCK_PAYLOAD, False)] * 3


def test_a_port_without_an_answer_is_examined_from_the_same_source_port() -> None:
    ports = [FlowPort(40000 + i, 8972, answered=int(i != 2)) for i in range(5)]
    planned = later_datagrams(path(), ports)
    assert [(d.slot, d.source_port, d.payload) for d in planned] == [
        (2, 40002, 56), (2, 40002, 8972), (2, 40002, 8972), (0, 40000, 8972),
    ]  # fmt: skip
    assert all(b.at_ms - a.at_ms >= 1000 for a, b in itertools.pairwise(planned))


def test_a_block_without_an_answer_is_examined_with_a_packet_of_full_size() -> None:
    planned = later_datagrams(path(1500), [FlowPort(40000, BLOCK_PAYLOAD, whole=False)])
    assert [(d.payload, d.whole) for d in planned] == [
        (56, True), (1472, True), (BLOCK_PAYLOAD, False), (BLOCK_PAYLOAD, False),
    ]  # fmt: skip


def test_few_ports_are_examined_where_all_are_silent_and_none_where_an_error_came_back() -> None:
    assert len(doubtful([FlowPort(1, 8972)] * 12)) == 3
    assert len(doubtful([FlowPort(1, 8972)] * 11 + [FlowPort(1, 8972, answered=1)])) == 6
    assert doubtful([FlowPort(1, 8972, prohibited_by="192.168.11.2"), FlowPort(2, 8972, error="EPERM")]) == []


def test_the_longest_plan_fits_the_sender_s_time() -> None:
    ports = (
        [FlowPort(1, BLOCK_PAYLOAD, whole=False)] * 2 + [FlowPort(1, 1472)] * 7 + [FlowPort(1, 1472, answered=1)] * 3
    )
    assert max(d.at_ms for d in later_datagrams(path(1500), ports)) < 40_000


# --- texts ------------------------------------------------------------------------------------------------------------


def test_the_lines_of_the_sender_become_ports() -> None:
    planned = first_datagrams(path(), 4)
    answers = parse_answers(
        "0 0 40000 8972 refused 192.168.11.2\n0 1 40001 8972 silence -\n0 2 40002 8972 prohibited 192.168.11.254\n"
        "0 3 0 8972 unsent:EMSGSIZE -\nTraceback (most recent call last):\n"
    )
    answered, silent, refused, unsent = first_ports(planned, answers)
    assert (answered.source_port, answered.sent, answered.answered) == (40000, 1, 1)
    assert (silent.sent, silent.answered, silent.error) == (1, 0, "")
    assert refused.prohibited_by == "192.168.11.254"
    assert (unsent.sent, unsent.error) == (0, "EMSGSIZE")


def test_later_datagrams_count_by_their_size() -> None:
    lines = "0 0 1 56 refused x\n0 0 1 8972 silence -\n0 0 1 8972 refused 192.168.11.2\n0 0 1 56 refused 192.168.11.2\n"
    port = with_later(FlowPort(1, 8972), parse_answers(lines), full_payload=8972)
    assert (port.sent, port.answered, port.late) == (3, 1, True)
    assert (port.small_sent, port.small_answered) == (1, 1)


@given(st.text() | st.text("0123456789 :-refusdilnc\n", max_size=300))
def test_no_text_breaks_the_parsers(text: str) -> None:
    answers = parse_answers(text)
    first_ports(first_datagrams(path(), 6), answers)
    with_later(FlowPort(1, 8972), answers, full_payload=8972)
    parse_ends(text)


# --- the nodes --------------------------------------------------------------------------------------------------------


def test_the_closed_port_has_no_socket_and_no_service_and_is_not_reserved() -> None:
    ends = parse_ends(ENDS)
    assert (ends.python, ends.lowest_local, ends.no_ports) == ("python3", 9000, 10)
    assert {0x0035, 0x2221, 5869, 7697} <= ends.taken
    assert closed_port(ends) == 6947


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        (UdpEnds(), "its tables of UDP sockets could not be read"),
        (UdpEnds(tables_read=True), "its net.ipv4.ip_local_port_range could not be read"),
        (UdpEnds(tables_read=True, lowest_local=1024), "each candidate port is in use, or not below 1024"),
        (
            UdpEnds(tables_read=True, lowest_local=9000, taken=frozenset(CLOSED_PORTS)),
            "each candidate port is in use, or not below 9000",
        ),
    ],
)
def test_without_a_port_known_to_be_closed_nothing_is_sent(ends: UdpEnds, reason: str) -> None:
    assert closed_port(ends) == reason


def test_the_candidates_are_below_the_ports_that_oracle_has_the_kernel_choose() -> None:
    assert all(1023 < port < 9000 for port in CLOSED_PORTS)


@pytest.mark.parametrize(
    ("printed", "python"),
    [
        ("/usr/libexec/platform-python", "/usr/libexec/platform-python"),
        ("/usr/bin/python2", "python2"),
        ("/opt/evil/python3", ""),
        ("alias python3='rm -rf /'", ""),
    ],
)
def test_a_python_counts_only_in_a_directory_of_the_system(printed: str, python: str) -> None:
    assert parse_ends(printed).python == python


# --- the allow-list ---------------------------------------------------------------------------------------------------

WORD = word(path(), 6947, first_datagrams(path(), 12), Receiver(1, 5, 4711))


@pytest.mark.parametrize("python", ["python3", "python2", "python", "/usr/libexec/platform-python", "/usr/bin/python3"])
def test_a_python_may_run_the_sender(python: str) -> None:
    assert fault_of_command((python, "-E", "-s", "-S", "-c", SENDER_TEXT, "1000", WORD)) == ""


@pytest.mark.parametrize(
    "argv",
    [
        ("python3", "-c", SENDER_TEXT, "1000", WORD),
        ("python3", "-E", "-s", "-S", "-c", SENDER_TEXT + "\nimport os", "1000", WORD),
        ("python3", "-E", "-s", "-S", "-c", "import os", "1000", WORD),
        ("python3", "-E", "-s", "-S", "-c", SENDER_TEXT, "1000", "/etc/passwd"),
        ("python3", "-E", "-s", "-S", "-c", SENDER_TEXT),
        ("/tmp/python3", "-E", "-s", "-S", "-c", SENDER_TEXT, "1000", WORD),
        ("/usr/libexec/other", "-E", "-s", "-S", "-c", SENDER_TEXT, "1000", WORD),
    ],
)
def test_a_python_may_run_nothing_else(argv: tuple[str, ...]) -> None:
    assert fault_of_command(argv)


# --- the sender, on loopback ------------------------------------------------------------------------------------------


def closed_on_loopback() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_the_sender_reports_refusals_sizes_and_what_the_kernel_does_not_send() -> None:
    lines: list[str] = []
    port = closed_on_loopback()
    words = ["500", f"127.0.0.1,127.0.0.1,{port},0:0:0:8972:1/10:1:0:65507:0/20:2:0:65600:1"]
    udp_sender.run(words, lines.append, lambda: False)
    by_slot = {line.split()[1]: line.split() for line in lines[1:]}
    assert by_slot["0"][3:] == ["8972", "refused", "127.0.0.1"]
    assert by_slot["1"][3:] == ["65507", "refused", "127.0.0.1"]
    assert by_slot["2"][4] == "unsent:EMSGSIZE"
    assert parse_answers("\n".join(lines))


def test_an_open_port_answers_nothing_and_the_sender_says_silence() -> None:
    lines: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        udp_sender.run(["50", f"127.0.0.1,127.0.0.1,{sock.getsockname()[1]},0:0:0:56:1"], lines.append, lambda: False)
    assert lines[-1].split()[4:] == ["silence", "-"]


def test_a_stopped_sender_sends_nothing_more() -> None:
    lines: list[str] = []
    udp_sender.run(["50", "127.0.0.1,127.0.0.1,9,0:0:0:56:1"], lines.append, lambda: True)
    assert not parse_answers("\n".join(lines))

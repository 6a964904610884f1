"""What a kernel prints of the packets that it drops, from release to release, and what follows from it."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import DroppedPackets, KernelDrops
from checks.model.signs import Sign
from checks.rules.drop_reasons import DropKind, kind_of, signs_of
from checks.sources.kernel_trace.trace_text import Trace
from checks.sources.kernel_trace.tracing import command_line

NEW = (
    "          <idle>-0       [002] b.s3. 14.338318: kfree_skb: skbaddr=00000000a rx_sk=0000000000000000 protocol=2048 "
    "location="
)
OLD_4_18 = (
    "          <idle>-0     [001] ..s1    36.113438: kfree_skb: skbaddr=00000000b089b447 protocol=2048 "
    "location=0000000050342fbe"
)
OLD_5_17 = (
    "          <idle>-0     [036] ..s1.  647.428165: kfree_skb: skbaddr=000000004d037db6 protocol=2048 "
    "location=0000000074cd1243 reason: NO_SOCKET"
)
AT_NIC = "     ksoftirqd/2-27    [002] ..s1. 14.338300: netif_receive_skb: dev=eth2 skbaddr=00000000a len=1237"


def traced(*lines: str) -> KernelDrops:
    trace = Trace()
    for line in lines:
        trace.feed(line)
    return trace.facts("rac1")


def test_a_packet_is_followed_from_its_nic_to_the_drop():
    found = traced(
        "racwire reasons",
        "racwire on",
        AT_NIC,
        f"{NEW}nf_hook_slow+0xb8/0x100 reason: NETFILTER_DROP",
        "racwire second 1",
        "racwire off",
    )
    assert found.drops == (DroppedPackets("NETFILTER_DROP", "nf_hook_slow", 1, "eth2"),)
    assert found.followed_at("eth2", is_sent=False) == 1
    assert found.has_reasons
    assert found.seconds == 1


def test_a_later_drop_at_the_same_address_is_of_another_packet():
    later = NEW.replace("14.338318", "15.9")
    (drop,) = traced(AT_NIC, f"{later}nf_hook_slow+0xb8/0x100 reason: NETFILTER_DROP").drops
    assert drop.nic == ""
    twice = f"{NEW}__udp4_lib_rcv+0x2/0x9 reason: NO_SOCKET"
    assert [d.nic for d in traced(AT_NIC, twice, twice).drops] == ["", "eth2"]


def test_a_packet_on_the_way_out():
    sent = AT_NIC.replace("netif_receive_skb", "net_dev_queue")
    (drop,) = traced(sent, f"{NEW}__dev_queue_xmit+0x10f0/0x11a0 reason: QDISC_DROP").drops
    assert (drop.nic, drop.is_sent, drop.location) == ("eth2", True, "__dev_queue_xmit")


@pytest.mark.parametrize(("line", "reason"), [(OLD_4_18, ""), (OLD_5_17, "NO_SOCKET")])
def test_older_kernels_hide_the_place_and_the_oldest_have_no_reason(line: str, reason: str):
    assert traced(line).drops == (DroppedPackets(reason, "", 1),)
    assert not traced(line).has_reasons


def test_what_was_not_seen_is_counted():
    found = traced("CPU:3 [LOST 23 EVENTS]", "racwire missed 5 7", "racwire stopped 2")
    assert found.missed == 35
    assert found.is_stopped
    assert found.seconds == 2


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("NETFILTER_DROP", DropKind.FILTER), ("SOCKET_RCVBUFF", DropKind.SOCKET), ("SOCKET_RCVBUF", DropKind.SOCKET),
        ("TC_INGRESS", DropKind.POLICED), ("QDISC_OVERLIMIT", DropKind.QUEUE), ("FRAG_TOO_FAR", DropKind.REASSEMBLY),
        ("IP_RPFILTER", DropKind.RETURN_PATH), ("UDP_CSUM", DropKind.CHECKSUM), ("NO_SOCKET", DropKind.USUAL),
        ("TCP_OLD_ACK", DropKind.USUAL), ("A_REASON_OF_TOMORROW", DropKind.USUAL), ("", DropKind.UNSPECIFIED),
    ],
)  # fmt: skip
def test_the_reasons_have_a_meaning_and_signs(reason: str, kind: DropKind):
    assert kind_of(reason) is kind
    harmless = kind in (DropKind.USUAL, DropKind.UNSPECIFIED)
    assert (Sign.NODE_DROPS in signs_of(kind)) is not harmless
    assert (Sign.NODE_RULE in signs_of(kind)) is (kind is DropKind.FILTER)


def test_the_command_quotes_what_it_is_given_and_leaves_out_odd_names():
    words = shlex.split(command_line(60, ["eth1", 'a"; reboot #', "bond0.7"], 1237, "abc"))
    assert words[:3] == ["exec", "sh", "-c"]
    assert words[5] == "10"  # seconds: never more
    assert words[7] == '(len == 1237 || len == 1251) && (name == "eth1" || name == "bond0.7")'
    assert shlex.split(command_line(3, ["eth1"], None, "abc"))[7] == ""


@given(
    st.lists(
        st.sampled_from([AT_NIC, NEW, OLD_4_18, OLD_5_17, "racwire second 3", "racwire missed"]) | st.text(max_size=80),
        max_size=30,
    )
)
def test_the_parser_never_raises(lines: list[str]):
    found = traced(*lines)
    assert sum(d.number for d in found.drops) <= len(lines)

"""The ladder of silence: each rung from its fact, and the first that fails ends the line."""

import msgspec
import pytest

from checks.model.facts import Address, Leg, Neighbour, UnreadNode, Verdict
from checks.rules.unanswered_pings import heard_lines, hears_alone, ladder, ladder_line
from tests.fixtures.clusters import cluster, node, path, with_interface

MAC = "52:54:00:00:00:02"


def nodes(state: str = "reachable", mac: str = MAC, ignored: int = 0):
    own = with_interface(node(2), "eth2", mac_address=MAC)
    peer = msgspec.structs.replace(own, sysctls={"net.ipv4.icmp_echo_ignore_all": str(ignored)})
    return [msgspec.structs.replace(node(1), neighbours=(Neighbour("192.168.11.2", "eth2", mac, state),)), peer]


def line(built, leg: Leg = Leg.UNKNOWN) -> str:
    network = built.networks[1]
    return ladder_line(built, network, path(network, "rac1", "rac2", Verdict.FILTERED, leg))


def test_where_all_rungs_hold_the_answers_are_what_is_missing():
    assert line(cluster(nodes()), Leg.REPLY) == (
        "rac1 -> rac2: both links are up; rac2 alone among the nodes that were read has 192.168.11.2; rac1 has the MAC "
        "address of that NIC; the kernel of rac2 is set to answer pings (net.ipv4.icmp_echo_ignore_all 0); rac2 "
        "counted the requests, and their answers did not return"
    )


@pytest.mark.parametrize(
    ("built", "end"),
    [
        (
            cluster([nodes()[0], with_interface(nodes()[1], "eth2", operational_state="down")]),
            "the link of rac2 is down",
        ),
        (
            cluster([with_interface(nodes()[0], "eth0", addresses=(Address("192.168.11.2", 24),)), nodes()[1]]),
            "rac1 has 192.168.11.2, too",
        ),
        (cluster(nodes(mac="52:54:00:00:00:99")), "rac1 has 52:54:00:00:00:99 for it, no NIC of the peer"),
        (cluster(nodes(ignored=1)), "the kernel of rac2 answers no pings (net.ipv4.icmp_echo_ignore_all 1)"),
    ],
    ids=["link", "second owner", "neighbour", "ignored"],
)
def test_the_line_ends_at_the_first_rung_that_fails(built, end):
    assert line(built, Leg.REQUEST).endswith(end)


def test_what_was_not_read_is_named_and_not_assumed():
    built = cluster([node(1), UnreadNode("rac2", "no ssh")])
    base = cluster(2)
    probe = path(base.networks[1], "rac1", "rac2", Verdict.FILTERED)
    assert [rung.holds for rung in ladder(built, base.networks[1], probe)] == [None] * 5
    assert ladder_line(built, base.networks[1], probe).startswith("rac1 -> rac2: not known: whether both links are up;")


def three(*, own: str = "", theirs: str = ""):
    """rac2 has the MAC addresses of its peers, of rac1 `own`; rac1 has `theirs` of rac2, and rac3 none."""
    built = cluster(3)
    macs = {n: f"52:54:00:00:00:0{n}" for n in (1, 2, 3)}
    nodes = [with_interface(node(n), "eth2", mac_address=mac) for n, mac in macs.items()]
    heard = ((1, own or macs[1]), (3, macs[3]))
    nodes[1] = msgspec.structs.replace(
        nodes[1], neighbours=tuple(Neighbour(f"192.168.11.{n}", "eth2", mac, "delay") for n, mac in heard)
    )
    if theirs:
        nodes[0] = msgspec.structs.replace(nodes[0], neighbours=(Neighbour("192.168.11.2", "eth2", theirs, "stale"),))
    network = built.networks[1]
    silent = [path(network, a, "rac2", Verdict.UNREACHABLE) for a in ("rac1", "rac3")]
    return msgspec.structs.replace(cluster(nodes), paths=tuple(silent)), network, silent


def test_a_node_that_has_its_peers_while_none_has_it_hears_them():
    built, network, silent = three()
    assert hears_alone(built, network, "rac2") == ("rac1", "rac3")
    failed = (*silent, path(network, "rac2", "rac3", Verdict.UNREACHABLE))
    assert hears_alone(msgspec.structs.replace(built, paths=failed), network, "rac2") == ("rac1",)
    assert heard_lines(built, network, silent) == (
        "rac2 has the MAC address of rac1 and rac3, and no peer has that of rac2: ARP requests reach rac2, and what it "
        "sends vanishes",
    )


@pytest.mark.parametrize(
    ("other", "heard"),
    [({"own": "52:54:00:00:00:99"}, ("rac3",)), ({"theirs": "52:54:00:00:00:02"}, ())],
    ids=["a stranger's", "heard by one"],
)
def test_a_node_that_a_peer_hears_is_not_alone_in_hearing_and_an_address_of_others_is_no_sign(other, heard):
    built, network, _ = three(**other)
    assert hears_alone(built, network, "rac2") == heard

"""Who fills a link: what `ss` counts by address and port, what the instances count, and the rest, which adds up."""

import msgspec
import pytest

from checks.model.facts import CounterGroup, NotAsked, PrivateTcp, TcpFlow, Unknown
from checks.model.link_traffic import LinkUser
from checks.model.packet_sizes import counted_bytes_of
from checks.plugins.link_saturation import link_saturation
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.redactor import Redactor
from checks.report.json_report import to_json
from checks.rules.link_users import full_links, link_traffic
from checks.sources.nodes.tcp_reading import parse_private_tcp, private_tcp
from checks.sources.sh_text import MARK
from tests.fixtures.clusters import cluster, interface, node
from tests.fixtures.databases import SECONDS, activity, asked, change, counters, own_activity, system
from tests.fixtures.reports import report_of

FULL = 35_000_000_000
"""Bytes in thirty seconds that fill 93 % of 10 Gbit/s."""


def printed(*connections):
    """The output of the program, of (local, remote, values)."""
    lines = "".join(f"0 0 {local} {remote}\n\t cubic mss:8948 {values}\n" for local, remote, values in connections)
    return f"\n{MARK} connections\nRecv-Q Send-Q Local Address:Port Peer Address:Port\n{lines}\n{MARK} end 0\n"


def moved(before, after):
    return private_tcp(parse_private_tcp(printed(*before), 10.0), parse_private_tcp(printed(*after), 40.0))


def test_connections_are_added_up_by_address_and_port_of_the_service():
    nfs, copy = ("192.168.11.2:881", "192.168.11.200:2049"), ("192.168.11.2:5010", "192.168.11.212:58424")
    second = ("192.168.11.2:5010", "192.168.11.212:58456")
    found = moved(
        [(*nfs, "bytes_sent:10 bytes_acked:9 bytes_received:1000 segs_out:1 segs_in:2"),
         (*copy, "bytes_received:500 segs_out:3 segs_in:4")],
        [(*nfs, "bytes_sent:110 bytes_acked:9 bytes_received:9000 segs_out:11 segs_in:22"),
         (*copy, "bytes_received:5500 segs_out:3 segs_in:8"),
         (*second, "bytes_received:700 segs_out:1 segs_in:1")],
    )  # fmt: skip
    assert found == PrivateTcp(
        30.0,
        (
            TcpFlow("192.168.11.2", "192.168.11.200", 2049, False, "NFS", 1, 8000, 100, 20, 10),
            TcpFlow("192.168.11.2", "192.168.11.212", 5010, True, "", 2, 5700, 0, 5, 1),
        ),
    )


def test_what_is_no_traffic_of_the_interval_is_in_no_flow():
    old, reused = ("192.168.11.2:5010", "192.168.11.9:40000"), ("192.168.11.2:5010", "192.168.11.9:40001")
    own = ("192.168.11.2:5010", "192.168.11.2:40002")
    found = moved(
        [(*old, "bytes_received:500 segs_in:4"), (*reused, "bytes_received:900 segs_in:9")],
        [(*old, "bytes_received:500 segs_in:4"), (*reused, "bytes_received:70 segs_in:1"),
         (*own, "bytes_received:100000 segs_in:9")],
    )  # fmt: skip
    assert [flow.received_bytes for flow in found.flows] == [70], "no growth; a port used again; over loopback"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"\n{MARK} connections\n\n{MARK} end 127\n", "no ss"),
        (printed(("10.0.0.1:1", "10.0.0.2:2", "")), "does not show the bytes"),
    ],
)
def test_a_node_whose_ss_does_not_count_is_not_known(text, reason):
    found = private_tcp(parse_private_tcp(text), parse_private_tcp(text))
    assert isinstance(found, Unknown)
    assert reason in found.reason


# --- the shares -------------------------------------------------------------------------------------------------------


def flow(received, remote="192.168.11.200", port=2049, service="NFS", *, is_own=False):
    return TcpFlow("192.168.11.2", remote, port, is_own, service, 2, received, 0, 0, 0)


def facts(*flows, blocks=0, rx=FULL, elsewhere=0, **more):
    """eth2 of rac2 receives `rx` bytes, and eth1 `elsewhere`; its instance received so many blocks."""
    nics = {"eth2": {"rx_bytes": rx, "tx_bytes": 0}, "eth1": {"rx_bytes": elsewhere, "tx_bytes": 0}}
    full = msgspec.structs.replace(
        change("rac2", Udp_NoPorts=more.pop("no_ports", 0)),
        machine=system(nics),
        private_tcp=more.pop("tcp", PrivateTcp(SECONDS, flows)),
    )
    busy = own_activity(2, {"gc cr blocks received": blocks, "gc current blocks received": 0})
    return asked(counters=counters(2, full), **{"activity": activity(2, busy), **more})


def of_eth2(built):
    found = next(one for one in full_links(built) if one.nics == ("eth2",))
    assert (found.node, found.nics, found.receives) == ("rac2", ("eth2",), True)
    assert sum(one.percent for one in found.shares) == pytest.approx(100)
    assert sum(one.bytes_per_s for one in found.shares) == pytest.approx(found.bytes_per_s)
    return found


def shares(built):
    return [(one.user, one.remote_ip, one.port, round(one.percent)) for one in of_eth2(built).shares]


def test_blocks_and_connections_share_a_link_with_a_rest():
    blocks = int(0.5 * FULL / counted_bytes_of(8192, 9000))
    built = facts(flow(int(0.3 * FULL)), flow(int(0.1 * FULL), "192.168.11.9", 5010, "", is_own=True), blocks=blocks)
    assert shares(built) == [
        (LinkUser.DATABASE, "", None, 50),
        (LinkUser.STORAGE, "192.168.11.200", 2049, 30),
        (LinkUser.CONNECTION, "192.168.11.9", 5010, 10),
        (LinkUser.NOT_KNOWN, "", None, 10),
    ]
    (found,) = [one for one in link_saturation.run(built) if one.code == "IC-LOAD-002"]
    assert found.seen[0] == (
        "eth2 of rac2 is 93 % full, receiving (as of 14:02:31): 50 % blocks and messages of PROD, 30 % NFS from "
        "192.168.11.200:2049, 10 % TCP from 192.168.11.9 to port 5010 of rac2, 10 % not known. What is not known is no "
        "TCP connection of rac2, and the instances did not count it."
    )
    commands = [command for step in found.next for command in step.commands]
    assert "gv$segment_statistics" in commands[0]
    assert "ss -tnp dst 192.168.11.200" in commands
    assert any("tcpdump" in command for command in commands)


def test_of_blocks_on_two_links_a_link_surely_has_what_the_other_did_not_carry():
    blocks = int(FULL / counted_bytes_of(8192, 9000))
    assert shares(facts(blocks=blocks, elsewhere=int(0.6 * FULL)))[0] == (LinkUser.DATABASE, "", None, 40)
    assert shares(facts(blocks=blocks, elsewhere=FULL))[0][0] is LinkUser.NOT_KNOWN


def test_where_connections_fill_a_link_the_first_step_is_about_them():
    never = NotAsked("No database was named.")
    built = facts(flow(FULL), activity=never, database=never)
    (full,) = [one for one in link_saturation.run(built) if one.code == "IC-LOAD-002"]
    assert full.next[0].commands == ("ss -tnp dst 192.168.11.200",)


def test_shares_of_more_than_all_bytes_are_cut_down_alike():
    both = shares(facts(flow(FULL), flow(FULL, port=3260, service="iSCSI")))
    assert [percent for *_, percent in both] == [50, 50, 0]


def test_what_was_not_read_is_not_known_with_the_reason():
    never = NotAsked("No database was named.")
    built = facts(tcp=Unknown("ss is not there."), activity=never, database=never, no_ports=60_000)
    found = of_eth2(built)
    assert [one.user for one in found.shares] == [LinkUser.NOT_KNOWN]
    assert [one.reason for one in found.unread] == ["ss is not there.", "No database was named."]
    (full,) = [one for one in link_saturation.run(built) if one.code == "IC-LOAD-002"]
    assert full.next[0].commands[0].startswith("racwire check --connect"), "the blocks were not counted"
    assert full.seen[0] == (
        "eth2 of rac2 is 93 % full, receiving (as of 14:02:31): 100 % not known. Not read: ss is not there. Not read: "
        "no database was named. rac2 received 2,000 datagrams a second for ports where no program listens."
    )


def test_the_members_of_a_bond_are_one_link():
    members = [interface(f"p{n}", "", mtu=9000, master="eth2") for n in (1, 2)]
    top = msgspec.structs.replace(node(2).interface("eth2"), kind="bond", members=("p1", "p2"))
    bonded = node(2)
    others = tuple(one for one in bonded.interfaces if one.name != "eth2")
    bonded = msgspec.structs.replace(bonded, interfaces=(*others, top, *members))
    nics = tuple(CounterGroup(f"p{n}", {"rx_bytes": FULL, "tx_bytes": 0}) for n in (1, 2))
    full = msgspec.structs.replace(
        change("rac2"),
        machine=msgspec.structs.replace(system(), nics=nics),
        private_tcp=PrivateTcp(SECONDS, (flow(FULL),)),
    )
    built = asked(cluster([node(1), bonded]), counters=counters(2, full))
    (found,) = full_links(built)
    assert found.nics == ("p1", "p2")
    assert (found.shares[0].user, round(found.shares[0].percent)) == (LinkUser.STORAGE, 50)


def test_figures_of_any_size_are_no_error():
    huge = facts(flow(10**400), rx=10**400)
    assert [one.node for one in link_traffic(huge)] == ["rac1", "rac1"]


def test_json_has_the_shares_and_redaction_takes_the_addresses():
    report = report_of(facts(flow(int(0.3 * FULL), "192.168.11.234")))
    document = msgspec.json.decode(to_json(report))
    (mine,) = [one for one in document["link_traffic"] if one["node"] == "rac2" and one["percent_of_speed"] > 90]
    assert mine["shares"][0]["user"] == "storage"
    assert mine["shares"][0]["remote_ip"] == "192.168.11.234"
    assert b"192.168.11.234" not in to_json(Redactor(Pseudonyms()).report(report))

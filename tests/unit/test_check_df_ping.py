"""The check `df-ping`: the network, the direction and the layer of a fault."""

import msgspec
import pytest

from checks.model.effect import Effect
from checks.model.facts import Leg, LldpNeighbour, PingSeries, UnreadNode, Verdict
from checks.model.finding import Status
from checks.plugins.df_ping import df_ping
from tests.fixtures.change_plans import with_setup
from tests.fixtures.clusters import cluster, interface, node, path, with_interface, with_paths

B = Verdict.BLACK_HOLE


def found(built):
    return {f.code: f for f in df_ping.run(built)}


def broken(built, ways, verdict=B, **more):
    network = built.networks[1]
    changed = [path(network, a, b, verdict, leg, **more) for a, b, leg in ways]
    return found(with_paths(built, *changed))


def both_ways(hub, others):
    return [way for other in others for way in ((hub, other, Leg.REQUEST), (other, hub, Leg.REQUEST))]


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_a_healthy_cluster_passes(nodes):
    findings = df_ping.run(cluster(nodes))
    assert [f.status for f in findings] == [Status.PASS] * 2
    assert findings[0].table.rows[0][:3] == ("rac1", "·", "P 9000")


def test_a_black_hole_between_two_nodes_is_found_in_both_directions():
    finding = broken(cluster(2), both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert (
        finding.title
        == "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2, both ways. At most 1500 bytes pass."
    )
    assert finding.seen == (
        "rac1 <-> rac2: small packets 20 of 20 answered; packets of 9000 bytes (ping -s 8972) 0 of 20 answered, "
        "no error; largest that passes 1500 bytes",
        "counted at the target: requests rac1 <-> rac2 did not arrive",
        "rac1 eth2 192.168.11.1",
        "rac2 eth2 192.168.11.2",
    )
    assert finding.expected == ("packets of 9000 bytes (ping -s 8972) pass: the NICs at both ends have MTU 9000",)
    assert finding.subject == "eth2: black hole"
    assert finding.table.rows == (("rac1", "·", "B 1500"), ("rac2", "B 1500", "·"))
    assert finding.table.legend == "B black hole; figures: the largest packet that passes, in bytes"


def test_a_sender_whose_kernel_refuses_is_named_with_its_mtu():
    series = (PingSeries(56, 20, 20), PingSeries(8972, 20, 0, refused_locally=20, local_mtu=1500))
    codes = broken(cluster(2), [("rac2", "rac1", Leg.UNKNOWN)], Verdict.LOCAL_MTU, series=series)
    assert "rac2 cannot send full-size packets" in codes["IC-PATH-002"].title
    assert "MTU 1500" in codes["IC-PATH-002"].title


def test_unreachable_and_unprobed_paths_have_a_reason():
    codes = broken(cluster(2), [("rac1", "rac2", Leg.UNKNOWN)], Verdict.UNREACHABLE, reason="eth2 of rac2 has no link.")
    assert "eth2 of rac2 has no link." in codes["IC-PATH-006"].seen
    codes = broken(cluster(2), [("rac2", "rac1", Leg.UNKNOWN)], Verdict.UNKNOWN, reason="rac2 could not be read")
    assert codes["IC-PATH-008"].status is Status.UNKNOWN


def test_a_single_node_has_no_paths_to_probe():
    (finding,) = df_ping.run(cluster(1))
    assert finding.status is Status.SKIPPED
    assert [(e.node, e.topic) for e in finding.evidence] == [("rac1", "interfaces")]


def test_a_node_that_could_not_be_read_leaves_its_paths_unknown():
    findings = df_ping.run(cluster([node(1), node(2), UnreadNode("rac3", "User equivalence is missing.")]))
    assert [(f.code, f.status) for f in findings][-1] == ("IC-PATH-008", Status.UNKNOWN)
    assert findings[-1].title == "No path to or from rac3 was probed, since racwire could not read rac3."


def several(built, *changed):
    network = built.networks[1]
    return found(with_paths(built, *(path(network, a, b, verdict, **more) for a, b, verdict, more in changed)))


def test_loss_on_some_paths_blames_no_node_and_no_direction():
    some_lost = {"series": (PingSeries(56, 40, 39), PingSeries(8972, 40, 38))}
    ways = [("rac1", "rac2", Verdict.LOSS, some_lost), ("rac3", "rac1", Verdict.LOSS, some_lost)]
    finding = several(cluster(4), *ways)["IC-PATH-005"]
    assert finding.title == (
        "3.8 % of the pings of any size are lost on 192.168.11.0/24 between rac1 and each of rac2 and rac3."
    )
    assert finding.nodes == ()
    assert not any("first" in remedy.text for remedy in finding.next)


def test_a_router_that_refuses_is_reported_once():
    refused = PingSeries(8972, 3, 0, refused_locally=2, local_mtu=1500, too_big_mtu=1500, too_big_from="192.168.11.254")
    codes = several(
        cluster(2),
        ("rac1", "rac2", Verdict.TOO_BIG, {"series": (PingSeries(56, 20, 20), refused), "hops": 1}),
        ("rac2", "rac1", Verdict.LOCAL_MTU, {"hops": 1}),
    )
    assert "IC-PATH-009" not in codes
    assert codes["IC-PATH-004"].seen == (
        "rac1 -> rac2: small packets 20 of 20 answered; packets of 9000 bytes (ping -s 8972) 0 of 3 answered, "
        "192.168.11.254 reports MTU 1500",
    )
    assert codes["IC-PATH-004"].next[0].commands == ("ip route get 192.168.11.2 from 192.168.11.1",)


def test_a_layer_below_a_nic_is_checked_before_the_switch():
    bond = {"kind": "bond", "members": ("ens2f0",)}
    member = interface("ens2f0", "", mtu=1500, master="eth2")
    second = with_interface(node(2), "eth2", **bond)
    second = msgspec.structs.replace(second, interfaces=(*second.interfaces, member))
    finding = broken(cluster([node(1), second]), both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert "ens2f0, a member of eth2 on rac2, has MTU 1500" in finding.seen
    assert finding.next[0].text.startswith("Fix the finding of mtu-consistency: ens2f0")


def test_a_route_with_an_mtu_is_blamed_and_not_the_interface():
    series = (PingSeries(56, 20, 20), PingSeries(8972, 20, 0, refused_locally=20, local_mtu=1500))
    finding = broken(cluster(2), [("rac2", "rac1", Leg.UNKNOWN)], Verdict.LOCAL_MTU, series=series)["IC-PATH-002"]
    assert finding.title == "rac2 cannot send full-size packets on 192.168.11.0/24: a route of the node has MTU 1500."
    assert not any("ip link set" in command for remedy in finding.next for command in remedy.commands)
    # Only with its source does the kernel apply rules by source: without it, the step displays another route.
    assert finding.next[0].commands[1] == "ip route get 192.168.11.1 from 192.168.11.2"


def test_the_node_without_any_ping_exchange_is_the_one_to_check_for_a_filter():
    built = cluster(4)
    silent = [("rac3", n) for n in ("rac1", "rac2", "rac4")] + [(n, "rac3") for n in ("rac1", "rac2", "rac4")]
    finding = several(built, *((a, b, Verdict.FILTERED, {}) for a, b in silent))["IC-PATH-007"]
    assert finding.subject == "eth2 rac3: no answer to pings"
    assert finding.nodes == ("rac3",)
    assert finding.next[0].where == "root on rac3"


def test_the_finding_does_not_claim_all_nodes_if_one_was_not_read():
    findings = df_ping.run(cluster([node(1), node(2), node(3), UnreadNode("rac4", "ssh hangs.")]))
    assert findings[0].title == (
        "Full-size packets of 9000 bytes pass on 192.168.10.0/24 between all 3 nodes probed, both ways."
    )


def test_paths_that_are_not_listed_are_counted():
    built = cluster(4)
    lossy = [
        (a, b, Verdict.LOSS, {"series": (PingSeries(56, 40, 39 - n), PingSeries(8972, 40, 40))})
        for n, (a, b) in enumerate([("rac1", "rac2"), ("rac1", "rac3"), ("rac1", "rac4"), ("rac2", "rac1")])
    ]
    fifth = ("rac2", "rac3", Verdict.LOSS, {"series": (PingSeries(56, 40, 20), PingSeries(8972, 40, 40))})
    sixth = ("rac3", "rac2", Verdict.LOSS, fifth[3])
    assert several(built, *lossy, fifth)["IC-PATH-005"].seen[-1] == "and 1 more path with other counts"
    assert several(built, *lossy, fifth, sixth)["IC-PATH-005"].seen[-1] == "and 2 more paths with other counts"


# --- where the network team looks -------------------------------------------------------------------------------------


def with_mac(number, mac, **more):
    return with_interface(node(number), "eth2", mac_address=mac, **more)


def first_questions(finding):
    """The step for the network team."""
    return next(remedy for remedy in finding.next if remedy.where.startswith("the network team"))


MACS = {1: "52:54:00:12:34:01", 2: "52:54:00:AB:34:02", 3: "52:54:00:12:34:03"}


def test_both_ends_are_shown_with_the_commands_that_find_their_switch_ports():
    built = cluster([with_mac(n, MACS[n]) for n in (1, 2)])
    finding = broken(built, both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert finding.seen[-1] == "rac2 eth2 192.168.11.2, MAC 52:54:00:AB:34:02"
    step = first_questions(finding)
    assert "PORT stands for the port, which the MAC address finds" in step.text
    assert "Cisco NX-OS" in step.text
    assert step.commands == (
        "show mac address-table address 5254.0012.3401",
        "show mac address-table address 5254.00ab.3402",
        "show interface PORT counters errors",
        "show interface PORT | include MTU",
    )


def test_only_the_end_of_the_blamed_port_is_shown():
    built = cluster([with_mac(n, MACS[n]) for n in MACS])
    finding = broken(built, both_ways("rac3", ["rac1", "rac2"]))["IC-PATH-003"]
    assert [line for line in finding.seen if "MAC" in line] == ["rac3 eth2 192.168.11.3, MAC 52:54:00:12:34:03"]
    assert first_questions(finding).commands[0] == "show mac address-table address 5254.0012.3403"
    assert len(first_questions(finding).commands) == 3


def plugged(built, *ends):
    """Return the cluster whose LLDP reports, by node and NIC, the switch and its port."""
    setups = tuple(
        msgspec.structs.replace(
            one, lldp=tuple(LldpNeighbour(nic, sw, port=port) for name, nic, sw, port in ends if name == one.name)
        )
        for one in built.setups
    )
    return msgspec.structs.replace(built, setups=setups)


def test_a_switch_port_known_from_lldp_replaces_the_search_for_it():
    ends = [("rac1", "eth2", "sw1", "Ethernet1/7"), ("rac2", "eth2", "sw2", "Ethernet1/9")]
    built = plugged(cluster([with_mac(n, MACS[n]) for n in (1, 2)]), *ends)
    finding = broken(built, both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert finding.seen[-1] == "rac2 eth2 192.168.11.2, MAC 52:54:00:AB:34:02, plugged into sw2 Ethernet1/9"
    step = first_questions(finding)
    assert "PORT" not in step.text
    assert step.where == "the network team, on sw1 and sw2"
    assert step.commands == (
        "show interface Ethernet1/7 counters errors",
        "show interface Ethernet1/7 | include MTU",
        "show interface Ethernet1/9 counters errors",
        "show interface Ethernet1/9 | include MTU",
    )


def test_the_ports_of_a_bond_are_those_of_its_members():
    member = interface("ens2f0", "", master="eth2")
    second = with_mac(2, MACS[2], kind="bond", members=("ens2f0",))
    second = msgspec.structs.replace(second, interfaces=(*second.interfaces, member))
    built = plugged(cluster([with_mac(1, MACS[1]), second]), ("rac2", "ens2f0", "sw2", "Ethernet1/9"))
    finding = broken(built, both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert finding.seen[-1].endswith("plugged into sw2 Ethernet1/9")
    step = first_questions(finding)
    assert step.commands[0] == "show mac address-table address 5254.0012.3401"
    assert "show interface Ethernet1/9 | include MTU" in step.commands
    assert "show interface PORT | include MTU" in step.commands
    assert step.where == "the network team, on the switch"


def test_an_infiniband_address_is_shown_and_not_searched_on_an_ethernet_switch():
    gid = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:02"
    built = cluster([node(1), with_mac(2, gid)])
    finding = broken(built, both_ways("rac1", ["rac2"]))["IC-PATH-003"]
    assert finding.seen[-1].endswith(f"MAC {gid}")
    assert not any("address-table" in command for command in first_questions(finding).commands)
    assert "PORT stands for the port; the commands" in first_questions(finding).text


def test_two_switches_without_a_link_are_called_that():
    built = cluster(4)
    across = [(a, b) for a in ("rac1", "rac2") for b in ("rac3", "rac4")]
    dead = [(*pair, Verdict.UNREACHABLE, {}) for a, b in across for pair in ((a, b), (b, a))]
    codes = several(built, *dead)
    assert "IC-PATH-006" not in codes
    finding = codes["IC-PATH-031"]
    assert finding.title == (
        "No packet passes on 192.168.11.0/24 between rac1 and rac2 on one side and rac3 and rac4 on the other, both "
        "ways; each group reaches its own nodes."
    )
    assert finding.subject == "eth2: rac1, rac2 | rac3, rac4"
    # One path within a group that fails too is no such pattern.
    assert "IC-PATH-031" not in several(built, *dead, ("rac1", "rac2", Verdict.UNREACHABLE, {}))


NEXUS, BROCADE = "Cisco Nexus Operating System (NX-OS) Software N9K-C93180YC-EX", "Ruckus Wireless, Inc. ICX7750"


@pytest.mark.parametrize(
    ("descriptions", "said", "commands", "effect"),
    [
        (
            (NEXUS, NEXUS),
            (
                "the secondary suspends its member ports",
                "The link may go down for a moment",
                "sw1 and sw2, Cisco Nexus",
            ),
            ("racwire explain nexus-9000",),
            Effect.NODE_OUT_FIRST,
        ),
        (
            (BROCADE, NEXUS),
            ("sw1, Brocade/Ruckus ICX: For the whole switch, and only after its reload", "sw2, Cisco Nexus 9000"),
            ("racwire explain brocade", "racwire explain nexus-9000"),
            Effect.CLUSTER_DOWN_FIRST,
        ),
        ((NEXUS, "Foo OS"), ("The kind of sw2 is not known. Ask first",), ("racwire explain nexus-9000",), None),
        (("Foo OS", "Foo OS"), ("The kind of sw1 and sw2 is not known",), ("racwire explain switches",), None),
        ((), ("Ask first for the kind of switch",), ("racwire explain switches",), Effect.NODE_OUT_FIRST),
    ],
    ids=["vPC", "reload", "one unknown", "unknown", "no LLDP"],
)
def test_the_change_of_a_switch_has_the_warnings_of_its_vendor(descriptions, said, commands, effect):
    built = cluster(2)
    for number, description in enumerate(descriptions, 1):
        port = LldpNeighbour("eth2", f"sw{number}", description, f"Ethernet1/{number}")
        built = with_setup(built, f"rac{number}", lldp=(port,))
    change = broken(built, both_ways("rac1", ["rac2"]))["IC-PATH-003"].next[-1]
    assert change.is_change
    assert change.commands == commands
    assert effect in (None, change.effect)
    assert all(text in change.text for text in said)

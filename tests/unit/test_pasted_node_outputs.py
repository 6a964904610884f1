"""Pasted outputs of nodes: captures, lines of the kernel, packet filters; and access lists of switches."""

from checks.investigate.outputs.pastes import understand
from checks.model.pasted import (
    Counter,
    KernelEvent,
    Note,
)
from tests.unit.test_pasted_outputs import SAMPLES, pasted


def test_a_capture_has_fragments_and_sizes() -> None:
    frames = pasted("node-tcpdump").frames
    assert [(f.protocol, f.octets, f.is_fragment) for f in frames] == [
        ("udp", 540, False),
        ("udp", 1500, True),
        ("udp", None, True),
        ("udp", None, True),
        ("icmp", 84, False),
        ("icmp", 84, False),
        ("arp", None, False),
        ("arp", None, False),
    ]
    assert {f.nic for f in frames} == {"eth1"}
    verbose = pasted("node-tcpdump-verbose")
    assert [(f.octets, f.fragment_id, f.offset, f.is_fragment) for f in verbose.frames] == [
        (1500, 54_321, 0, True),
        (1500, 54_321, 1480, True),
        (820, 54_321, 7400, True),
        (540, 54_322, 0, False),
    ]
    assert [(c.captured, c.received, c.dropped) for c in verbose.captures] == [(4, 4, 3)]


def test_a_capture_without_its_last_lines_was_cut() -> None:
    text = SAMPLES["node-tcpdump"].partition("8 packets captured")[0]
    found = understand(text)
    assert (len(found.frames), found.captures, found.notes) == (8, (), (Note.CUT_SHORT,))


def test_lines_of_the_kernel_are_counted_by_event_and_nic() -> None:
    assert [(k.event, k.nic, k.count) for k in pasted("node-dmesg").kernel] == [
        (KernelEvent.LINK_DOWN, "ens2f0", 2),
        (KernelEvent.LINK_UP, "ens2f0", 1),
        (KernelEvent.TABLE_FULL, "", 2),
        (KernelEvent.MARTIAN, "eth1", 1),
        (KernelEvent.SEND_TIMEOUT, "ens2f1", 1),
    ]


def test_rules_of_packet_filters() -> None:
    drops = [rule for rule in pasted("node-nft").rules if rule.drops]
    assert [
        (r.hook, r.nics_in or r.nics_out, r.protocols, r.lengths, r.is_of_fragments, r.is_partial, r.packets)
        for r in drops
    ] == [
        ("input", ("eth1",), ("udp",), (1501, 65_535), False, False, 4410),
        ("input", ("eth1", "eth2"), (), None, True, False, 12),
        ("input", ("eth2",), (), None, False, False, 0),
        ("input", (), ("icmp",), None, False, False, 31),
        ("input", (), ("udp",), None, False, True, 3),
        ("output", ("eth1",), ("udp",), (1501, 9000), False, False, 7),
    ]
    assert drops[2].sources == ("169.254.0.0/16",)
    assert drops[3].is_limit
    saved = [rule for rule in pasted("node-iptables").rules if rule.drops]
    assert [
        (r.chain, r.nics_in or r.nics_out, r.protocols, r.lengths, r.is_of_fragments, r.is_partial, r.packets)
        for r in saved
    ] == [
        ("filter FORWARD", (), (), None, False, False, 0),
        ("filter INPUT", ("eth1",), ("udp",), (1501, 65_535), False, False, 9012),
        ("filter INPUT", ("eth2",), ("icmp",), None, False, False, 15),
        ("filter INPUT", (), (), None, True, False, 3),
        ("filter INPUT", (), (), None, False, True, 0),
        ("filter INPUT", ("eth1",), ("udp",), None, False, True, 7),
        ("filter OUTPUT", ("eth1",), (), None, False, False, 0),
    ]


def test_access_lists_and_where_they_are_applied() -> None:
    found = pasted("nxos-filters")
    assert [
        (r.chain, r.drops, r.protocols, r.destinations, r.lengths, r.is_of_fragments, r.packets)
        for r in found.access_lists
    ] == [
        ("PRIV-RAC2", True, ("udp",), (), None, False, 412),
        ("PRIV-RAC2", False, (), (), None, False, 88_123_401),
        ("VLAN811", True, (), ("169.254.0.0/16",), None, False, 0),
        ("VLAN811", True, ("icmp",), (), (1501, 65_535), False, 0),
        ("VLAN811", True, (), (), None, True, 0),
        ("VLAN811", False, (), (), None, False, 993_311),
    ]
    assert [(a.name, a.port, a.vlan, a.is_egress) for a in found.acl_places] == [
        ("PRIV-RAC2", "Ethernet1/12", "", True),
        ("VLAN811", "", "811", False),
    ]
    assert [(p.name, p.mtu, p.vlan, p.forwarding_vlans) for p in found.ports] == [
        ("Ethernet1/12", 9216, "811", ""),
        ("Ethernet1/49", 1500, "trunk", "1,811"),
        ("Ethernet1/11", None, "811", ""),
    ]
    assert found.inside == {"Fabric drop packets": 7}
    catalyst = pasted("iosxe-access-lists")
    assert [(r.sources, r.destinations, r.is_of_fragments, r.is_partial, r.packets) for r in catalyst.access_lists] == [
        ((), ("192.168.10.2",), True, False, 77),
        (("192.168.10.0/24",), (), False, True, 3),
        ((), (), False, False, 91_233),
    ]
    assert [(p.name, p.is_up, p.allowed_vlans, p.forwarding_vlans) for p in catalyst.ports] == [
        ("TenGigabitEthernet1/1/1", True, "811-812", "811")
    ]


def test_outputs_of_several_nics_are_taken_in_the_order_of_the_commands() -> None:
    text = SAMPLES["node-ethtool-statistics"].partition("\n")[2]
    asked = ("ethtool -S ens2f0", "ethtool -S ens2f1")
    found = understand(text + text.replace("rx_crc_errors_phy: 6", "rx_crc_errors_phy: 8"), asked)
    assert [(p.name, p.counters[Counter.CRC]) for p in found.ports] == [("ens2f0", 6), ("ens2f1", 8)]
    assert [p.name for p in understand(text, asked).ports] == [""]  # one of the two: not known which

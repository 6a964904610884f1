"""What people paste from switches and nodes, in the form of each platform (`tests/samples/switch`)."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.investigate.outputs.pastes import understand
from checks.model.pasted import (
    ChannelMember,
    Counter,
    DeviceSystem,
    KernelEvent,
    MemberState,
    Note,
    Pasted,
    PastedOutput,
    PortReading,
    TreeState,
)

SAMPLES = {path.stem: path.read_text() for path in (Path(__file__).parents[1] / "samples" / "switch").glob("*.txt")}


@cache
def pasted(name: str) -> Pasted:
    return understand(SAMPLES[name])


def port(name: str, port: str) -> PortReading:
    found = pasted(name).port(port)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "platform", "outputs"),
    [
        ("nxos-interface", DeviceSystem.NXOS, ["PORTS"]),
        ("nxos-interface-5500", DeviceSystem.NXOS, ["PORTS", "QUEUES"]),
        ("nxos-counters-errors", DeviceSystem.NXOS, ["COUNTERS"]),
        ("nxos-queuing", DeviceSystem.NXOS, ["QUEUES"]),
        ("nxos-vpc", DeviceSystem.NXOS, ["PAIR"]),
        ("nxos-port-channel", DeviceSystem.NXOS, ["MEMBERS"]),
        ("nxos-mac", DeviceSystem.NXOS, ["MACS"]),
        ("nxos-tree", DeviceSystem.NXOS, ["TREE"]),
        ("nxos-status", DeviceSystem.NXOS, ["STATUS"]),
        ("nxos-policy-map", DeviceSystem.NXOS, ["POLICERS"]),
        ("nxos-optics", DeviceSystem.NXOS, ["OPTICS"]),
        ("iosxe-interface", DeviceSystem.IOS_XE, ["PORTS"]),
        ("iosxe-tables", DeviceSystem.IOS_XE, ["COUNTERS", "MEMBERS", "MACS", "TREE", "LACP", "STATUS"]),
        ("iosxe-policy-map", DeviceSystem.IOS_XE, ["POLICERS"]),
        ("iosxe-queue-stats", DeviceSystem.IOS_XE, ["QUEUES"]),
        ("eos-outputs", DeviceSystem.EOS, ["PORTS", "COUNTERS", "QUEUES", "MEMBERS", "PAIR", "MACS", "TREE"]),
        ("junos-extensive", DeviceSystem.JUNOS, ["PORTS", "QUEUES"]),
        ("junos-outputs", DeviceSystem.JUNOS, ["PORTS", "QUEUES", "LACP", "MACS", "TREE", "POLICERS", "OPTICS"]),
        ("sonic-outputs", DeviceSystem.SONIC, ["STATUS", "COUNTERS", "QUEUES", "MEMBERS", "MACS"]),
        ("cumulus-outputs", DeviceSystem.CUMULUS, ["COUNTERS", "STATUS", "DRIVER", "MACS"]),
        ("nxos-filters", DeviceSystem.NXOS, ["ACCESS_LISTS", "SETUP", "STATUS", "INTERNAL"]),
        ("iosxe-access-lists", DeviceSystem.IOS_XE, ["ACCESS_LISTS", "STATUS"]),
        ("node-neighbours", DeviceSystem.LINUX, ["NEIGHBOURS"]),
        ("node-tcpdump", DeviceSystem.LINUX, ["CAPTURE"]),
        ("node-tcpdump-verbose", DeviceSystem.LINUX, ["CAPTURE"]),
        ("node-ethtool-statistics", DeviceSystem.LINUX, ["DRIVER"]),
        ("node-ethtool-module", DeviceSystem.LINUX, ["OPTICS"]),
        ("node-links", DeviceSystem.LINUX, ["LINK", "QDISC"]),
        ("node-dmesg", DeviceSystem.LINUX, ["KERNEL"]),
        ("node-nft", DeviceSystem.LINUX, ["RULES"]),
        ("node-iptables", DeviceSystem.LINUX, ["RULES"]),
    ],
)
def test_platform_and_outputs_are_recognised_from_the_text(
    name: str, platform: DeviceSystem, outputs: list[str]
) -> None:
    found = pasted(name)
    assert (found.platform, [output.name for output in found.outputs]) == (platform, outputs)
    assert found.not_understood == ()
    assert found.notes == ()


def test_every_sample_is_tested() -> None:
    marks = test_platform_and_outputs_are_recognised_from_the_text.pytestmark[0].args[1]
    assert {row[0] for row in marks} == set(SAMPLES)


@pytest.mark.parametrize(
    ("name", "where", "counters"),
    [
        ("nxos-interface", "Ethernet1/12", {"CRC": 4407, "GIANTS": 12, "INPUT_ERRORS": 4419, "PAUSE_OUT": 44}),
        ("nxos-interface", "ethernet1/11", {"CRC": 0, "OUTPUT_DISCARDS": 1837, "STOMPED_CRC": 0}),
        ("nxos-counters-errors", "Ethernet1/12", {"CRC": 4407, "STOMPED_CRC": 3, "GIANTS": 12, "INPUT_DISCARDS": 0}),
        ("nxos-queuing", "Ethernet1/11", {"PAUSE_OUT": 12, "PAUSE_IN": 3}),
        (
            "iosxe-interface",
            "TenGigabitEthernet1/0/7",
            {"CRC": 31, "OUTPUT_DISCARDS": 90_210, "INPUT_DISCARDS": 6, "PAUSE_IN": 17},
        ),
        ("iosxe-tables", "TenGigabitEthernet1/0/8", {"GIANTS": 9, "CRC": 0, "OUTPUT_DISCARDS": 0}),
        ("eos-outputs", "Ethernet5/1", {"CRC": 143, "FLAPS": 6, "INPUT_DISCARDS": 17, "OUTPUT_DISCARDS": 29}),
        ("eos-outputs", "Ethernet6/1", {"GIANTS": 2, "OUTPUT_DISCARDS": 0}),
        (
            "junos-extensive",
            "xe-0/0/4",
            {"CRC": 9, "INPUT_ERRORS": 9, "OUTPUT_DISCARDS": 118, "FLAPS": 3, "GIANTS": 6, "PAUSE_IN": 31},
        ),
        ("sonic-outputs", "Ethernet0", {"INPUT_DISCARDS": 18_682, "OUTPUT_DISCARDS": 1204, "PAUSE_IN": 1240}),
        ("cumulus-outputs", "swp1", {"INPUT_DISCARDS": 4, "OUTPUT_DISCARDS": 77, "NO_BUFFER": 2}),
        ("cumulus-outputs", "bond5", {"INPUT_DISCARDS": 5, "NO_BUFFER": 1}),
        ("node-ethtool-statistics", "ens2f0", {"CRC": 6, "NO_BUFFER": 17, "INPUT_DISCARDS": 1402, "PAUSE_IN": 12}),
        ("node-links", "eth1", {"INPUT_ERRORS": 4, "INPUT_DISCARDS": 21, "NO_BUFFER": 9, "OUTPUT_DISCARDS": 2}),
    ],
)
def test_counters(name: str, where: str, counters: dict[str, int]) -> None:
    found = port(name, where).counters
    assert {counter: found.get(Counter[counter]) for counter in counters} == counters


@pytest.mark.parametrize(
    ("name", "where", "is_up", "state", "mtu", "speed_mbps"),
    [
        ("nxos-interface", "Ethernet1/12", True, "up", 1500, 25_000),
        ("nxos-status", "Ethernet1/12", False, "linkFlapE", None, 25_000),
        ("iosxe-interface", "TenGigabitEthernet1/0/7", True, "connected", 9198, 10_000),
        ("iosxe-interface", "TenGigabitEthernet1/0/8", False, "err-disabled", None, None),
        ("eos-outputs", "Ethernet5/1", True, "connected", 9214, 25_000),
        ("eos-outputs", "Port-channel6", False, "", None, None),
        ("junos-extensive", "xe-0/0/4", True, "Up", 9014, 10_000),
        ("sonic-outputs", "Ethernet4", False, "down", 1500, 25_000),
        ("sonic-outputs", "PortChannel0009", False, "", None, None),
        ("cumulus-outputs", "swp2", False, "DN", 1500, 25_000),
        ("cumulus-outputs", "swp3", False, "down", 1500, 25_000),
        ("node-links", "eth1", True, "up", 9000, None),
    ],
)
def test_state_of_a_port(
    name: str, where: str, is_up: bool, state: str, mtu: int | None, speed_mbps: int | None
) -> None:
    found = port(name, where)
    assert (found.is_up, found.state, found.mtu, found.speed_mbps) == (is_up, state, mtu, speed_mbps)


@pytest.mark.parametrize(
    ("name", "where", "queues", "octets"),
    [
        ("nxos-queuing", "Ethernet1/11", {"qos group 0": 1837, "control qos group": 0, "low priority, in": 5}, {}),
        ("nxos-interface-5500", "Ethernet1/3", {"qos group 0, in": 7, "qos group 2, in": 0}, {}),
        ("eos-outputs", "Ethernet5/1", {"UC0": 29, "UC1": 0, "MC0": 0}, {}),
        ("junos-extensive", "xe-0/0/4", {"0": 118, "3": 0}, {}),
        ("junos-outputs", "xe-0/0/4", {"0 best-effort": 118, "3 network-control": 3}, {}),
        ("sonic-outputs", "Ethernet0", {"UC0": 1204, "UC1": 0, "pg0": 12}, {}),
        ("iosxe-queue-stats", "TenGigabitEthernet1/0/7", {}, {"0": 0, "1": 811_200}),
        (
            "iosxe-policy-map",
            "TenGigabitEthernet1/0/7",
            {
                "output class-default": 77,
                "output class-default/all priority classes": 5,
                "output class-default/VOICE": 72,
            },
            {},
        ),
        ("node-links", "eth1", {"mq root": 61, "ingress parent ffff:fff1": 440}, {}),
    ],
)
def test_drops_by_queue(name: str, where: str, queues: dict[str, int], octets: dict[str, int]) -> None:
    found = port(name, where)
    assert {queue: found.queue_drops.get(queue) for queue in queues} == queues
    assert found.queue_drop_bytes == octets


def test_drops_of_a_forwarding_engine_are_of_no_port() -> None:
    assert pasted("nxos-queuing").inside == {"ingress overflow, in": 612}
    assert port("nxos-queuing", "Ethernet1/11").queue_drops["ingress overflow, in"] == 0


def test_policers_count_what_their_action_drops() -> None:
    catalyst = port("iosxe-policy-map", "TenGigabitEthernet1/0/7")
    assert catalyst.policer_drops == {"output BULK": 2}  # `exceeded` is marked, not dropped
    assert catalyst.policer_drop_bytes == {"input UDP-IN": 555_000}
    assert port("nxos-policy-map", "Ethernet1/11").policer_drop_bytes == {"input UDP-PRIVATE": 902_311}
    assert port("junos-outputs", "").policer_drops == {"POL-UDP-xe-0/0/4.0-i": 49}
    assert port("node-links", "eth1").policer_drops == {"police 1": 440}


def test_classes_have_the_mtu_of_a_nexus_5000() -> None:
    found = port("nxos-interface-5500", "Ethernet1/3")
    assert found.is_mtu_by_class
    assert found.class_mtus == {"qos group 0": 1500, "qos group 2": 9216}
    assert not port("nxos-interface", "Ethernet1/12").is_mtu_by_class
    assert pasted("iosxe-tables").system_mtu == 1500


def test_when_counters_were_cleared() -> None:
    assert [p.cleared_s for p in pasted("nxos-interface").ports] == [2 * 86_400 + 3 * 3600, None]
    assert port("junos-extensive", "xe-0/0/4").cleared_s == 10 * 3600 + 23 * 60 + 45
    assert port("eos-outputs", "Ethernet5/1").cleared_s == 11 * 86_400 + 17 * 3600 + 49 * 60 + 23
    assert port("iosxe-interface", "TenGigabitEthernet1/0/7").cleared_s == 9 * 86_400


def test_members_of_port_channels() -> None:
    assert pasted("nxos-port-channel").members == tuple(
        ChannelMember(device="sw-priv-a", channel=channel, port=port, state=state)
        for channel, port, state in (
            ("Port-channel1", "Ethernet1/49", MemberState.BUNDLED),
            ("Port-channel1", "Ethernet1/50", MemberState.BUNDLED),
            ("Port-channel1", "Ethernet1/51", MemberState.DOWN),
            ("Port-channel1", "Ethernet1/52", MemberState.BUNDLED),  # on the next line
            ("Port-channel11", "Ethernet1/11", MemberState.BUNDLED),
            ("Port-channel11", "Ethernet1/13", MemberState.SUSPENDED),
            ("Port-channel12", "Ethernet1/12", MemberState.DOWN),
        )
    )
    states = {
        name: {m.port: m.state.name for m in pasted(name).members}
        for name in ("iosxe-tables", "eos-outputs", "sonic-outputs", "junos-outputs")
    }
    assert states == {
        "iosxe-tables": {
            "TenGigabitEthernet1/0/7": "BUNDLED",
            "TenGigabitEthernet2/0/7": "SUSPENDED",
            "TenGigabitEthernet1/0/9": "DOWN",
        },
        "eos-outputs": {"Ethernet5/1": "BUNDLED", "Ethernet5/2": "DOWN", "Ethernet6/1": "SUSPENDED"},
        "sonic-outputs": {"Ethernet8": "BUNDLED", "Ethernet12": "NOT_BUNDLED", "Ethernet16": "WAITING"},
        "junos-outputs": {"xe-0/0/4": "BUNDLED", "xe-0/0/5": "NOT_BUNDLED"},
    }


def test_a_port_names_its_port_channel() -> None:
    assert port("nxos-interface", "Ethernet1/11").channel == "Port-channel11"
    assert port("eos-outputs", "Ethernet5/1").channel == "Port-channel5"
    assert port("sonic-outputs", "Ethernet8").channel == "PortChannel0008"
    assert port("nxos-interface", "Ethernet1/12").channel == ""


def test_two_switches_as_one() -> None:
    (pair,) = pasted("nxos-vpc").pairs
    assert (pair.is_peer_up, pair.is_link_up, pair.link_port, pair.is_consistent) == (True, True, "Port-channel1", True)
    assert [(c.port, c.is_up, c.is_consistent) for c in pair.channels] == [
        ("Port-channel11", True, True),
        ("Port-channel12", False, False),
    ]
    (mlag,) = pasted("eos-outputs").pairs
    assert (mlag.is_peer_up, mlag.is_link_up, mlag.is_consistent) == (True, True, False)


def test_spanning_tree() -> None:
    states = {
        name: {(t.tree, t.port): t.state for t in pasted(name).trees}
        for name in ("nxos-tree", "iosxe-tables", "eos-outputs", "junos-outputs")
    }
    assert states["nxos-tree"]["VLAN0811", "Ethernet1/12"] is TreeState.BROKEN
    assert states["nxos-tree"]["VLAN0811", "Port-channel1"] is TreeState.FORWARDING
    assert states["iosxe-tables"]["VLAN0812", "TenGigabitEthernet1/0/9"] is TreeState.BLOCKING
    assert states["eos-outputs"] == {
        ("MST0", "Ethernet6/1"): TreeState.FORWARDING,
        ("MST0", "Port-channel5"): TreeState.BLOCKING,
    }
    assert states["junos-outputs"]["MST0", "ae4"] is TreeState.BLOCKING


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        (
            "nxos-mac",
            [
                ("52:54:00:10:01:01", "811", "Port-channel11", True),
                ("52:54:00:10:02:01", "811", "Ethernet1/12", True),
                ("52:54:00:ff:00:01", "811", "Port-channel1", True),
            ],
        ),
        (
            "iosxe-tables",
            [
                ("52:54:00:10:03:02", "812", "TenGigabitEthernet1/0/7", True),
                ("52:54:00:10:04:02", "812", "Port-channel7", True),
            ],
        ),
        (
            "eos-outputs",
            [
                ("52:54:00:10:01:02", "812", "Port-channel5", True),
                ("52:54:00:10:02:02", "812", "Ethernet6/1", True),
            ],
        ),
        (
            "junos-outputs",
            [("52:54:00:10:02:02", "PRIV2", "xe-0/0/4", True), ("52:54:00:10:03:02", "PRIV2", "ae4", True)],
        ),
        (
            "sonic-outputs",
            [
                ("52:54:00:10:01:02", "812", "Ethernet0", True),
                ("52:54:00:10:02:02", "812", "PortChannel0008", True),
                ("52:54:00:ff:00:01", "812", "Ethernet4", False),
            ],
        ),
        (
            "cumulus-outputs",
            [
                ("52:54:00:10:01:02", "812", "bond5", True),
                ("48:b0:2d:66:cd:da", "", "swp3", False),
                ("52:54:00:10:02:02", "812", "swp3", True),
            ],
        ),
    ],
)
def test_mac_tables(name: str, rows: list[tuple[str, str, str, bool]]) -> None:
    assert [(m.mac, m.vlan, m.port, m.is_learned) for m in pasted(name).macs] == rows


@pytest.mark.parametrize(
    ("name", "where", "rx_dbm", "least", "celsius", "most"),
    [
        ("node-ethtool-module", "ens2f0", -26.78, -20.0, 38.72, 78.0),
        ("junos-outputs", "xe-0/0/4", -2.32, -16.99, 79.0, 78.0),
        ("nxos-optics", "Ethernet1/12", -17.8, -14.31, 41.22, 75.0),
    ],
)
def test_optics(name: str, where: str, rx_dbm: float, least: float, celsius: float, most: float) -> None:
    found = port(name, where)
    assert [lane.rx_dbm for lane in found.optics] == [rx_dbm]
    assert (found.limits.rx_least_dbm, found.celsius, found.limits.most_celsius) == (least, celsius, most)


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


# --- what a terminal and a mail add -----------------------------------------------------------------------------------

PAGER = " --More-- \b\b\b\b\b\b\b\b\b\b          \b\b\b\b\b\b\b\b\b\b"


def paged(text: str) -> str:
    """With the pager of a switch, and what it prints to erase itself, before each tenth line."""
    return "\n".join(f"{PAGER if at % 10 == 9 else ''}{line}" for at, line in enumerate(text.split("\n")))


ADDED: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "\n".join(f"\x1b[1;32m{line}\x1b[0m\x1b[K" for line in text.split("\n")),
    "pager": paged,
    "blanks at the end": lambda text: text.replace("\n", "   \n"),
    "quoted in a mail": lambda text: "\n".join(f"> {line}" for line in text.rstrip("\n").split("\n")),
    "fenced": lambda text: f"```\n{text}```\n",
    "no-break spaces": lambda text: text.replace("  ", "\u00a0 "),
    "byte order mark": lambda text: f"\ufeff{text}",
}


WHOLE = "\n".join(SAMPLES[name] for name in sorted(SAMPLES))


@pytest.mark.parametrize("added", ADDED)
def test_what_terminals_and_mails_add_changes_nothing(added: str) -> None:
    assert understand(ADDED[added](WHOLE)) == whole()


@cache
def whole() -> Pasted:
    return understand(WHOLE)


def test_all_samples_in_one_paste() -> None:
    """Several outputs of several devices: nothing of one is taken for another's."""
    found = whole()
    assert set(found.outputs) == set(PastedOutput)
    assert found.not_understood == ()
    for name in ("nxos-mac", "junos-outputs", "sonic-outputs"):
        assert set(pasted(name).macs) <= set(found.macs)
    crc = {(p.device, p.name): p.counters.get(Counter.CRC) for p in found.ports}
    assert (crc["sw-priv-a", "Ethernet1/12"], crc["leaf-1", "Ethernet5/1"], crc["rac1", "ens2f0"]) == (4407, 143, 6)


def test_ports_of_two_switches_with_one_name_stay_apart() -> None:
    text = SAMPLES["nxos-counters-errors"]
    found = understand(text + text.replace("sw-priv-a", "sw-priv-b").replace("4407", "11"))
    assert [(p.device, p.counters[Counter.CRC]) for p in found.ports if p.name == "Ethernet1/12"] == [
        ("sw-priv-a", 4407),
        ("sw-priv-b", 11),
    ]
    assert found.notes == ()


def test_one_port_twice_is_said() -> None:
    text = SAMPLES["nxos-interface"]
    found = understand(text + text.replace("4407 CRC", "4409 CRC"))
    assert found.notes == (Note.REPEATED,)
    assert found.ports[1].counters[Counter.CRC] == 4409


def test_what_is_not_understood_is_kept() -> None:
    found = understand(f"sw-priv-a# show clock\n14:02:11.123 UTC Sat Nov 29 2025\n{SAMPLES['nxos-mac']}")
    assert found.outputs == (PastedOutput.MACS,)
    assert found.not_understood == ("show clock\n14:02:11.123 UTC Sat Nov 29 2025",)


def test_an_unknown_output_behind_a_known_one_is_kept_without_prompts() -> None:
    unknown = "Logging of level 5\nServer one is up\nServer two is up\nServer three answers\n"
    found = understand(SAMPLES["nxos-mac"].partition("\n")[2] + "\n" + unknown)
    assert found.not_understood == (unknown.strip(),)


def test_a_refused_command_is_said() -> None:
    found = understand(
        "sw-priv-a# show queuing interfac eth1/1\n                          ^\n% Invalid command at '^' marker.\n"
    )
    assert (found.outputs, found.notes) == ((), (Note.REFUSED,))


def test_an_output_that_names_no_port_has_that_of_the_printed_command() -> None:
    text = SAMPLES["node-ethtool-statistics"].partition("\n")[2]
    assert [p.name for p in understand(text).ports] == [""]
    assert [p.name for p in understand(text, ("ethtool -S ens2f0",)).ports] == ["ens2f0"]


def test_a_cut_end_is_no_counter_of_zero() -> None:
    """The last number can be a part of one: what the cut leaves of a line is read as little as possible."""
    text = SAMPLES["nxos-interface"]
    whole = text.index("  TX\n", text.index("Ethernet1/12 is up"))
    found = understand(text[:whole])
    assert Counter.OUTPUT_DISCARDS not in found.ports[1].counters


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nothing_raises(data: st.DataObject) -> None:
    """Lines of all samples, mixed, cut and damaged."""
    lines = data.draw(st.lists(st.sampled_from(ALL_LINES), max_size=30))
    damaged = data.draw(st.lists(st.tuples(st.integers(0, 200), st.text(max_size=4)), max_size=8))
    text = "\n".join(lines)
    for at, inserted in damaged:
        text = text[: at * 5] + inserted + text[at * 5 + len(inserted) * 2 :]
    found = understand(text)
    assert all(value >= 0 for p in found.ports for value in p.counters.values())


ALL_LINES = sorted({line for text in SAMPLES.values() for line in text.split("\n")})


@given(st.text(max_size=300))
@settings(max_examples=40, deadline=None)
def test_no_text_raises(text: str) -> None:
    understand(text)

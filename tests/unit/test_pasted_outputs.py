"""What people paste from switches and nodes, in the form of each platform (`tests/samples/switch`)."""

from functools import cache
from pathlib import Path

import pytest

from checks.investigate.outputs.pastes import understand
from checks.model.pasted import (
    ChannelMember,
    Counter,
    DeviceSystem,
    MemberState,
    Pasted,
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

"""The setup parsed from a node's answers: autostart, platform, logins, switch ports, network services."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import LldpNeighbour, NetworkService, NodeSetup, Unknown
from checks.sources.node_setup import SETUP
from checks.sources.nodes.boot_config.active_manager import parse_network_services
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.setup_text import parse_lldp, parse_logins, parse_setup
from checks.sources.sh_text import FILE_MARK

SECTIONS = tuple(name for names in SETUP.sections.values() for name in names)


def setup(**texts: str | OutputSection) -> NodeSetup:
    """A setup of these sections; `_` stands for the blank in a section's name."""
    answers = {name: OutputSection() for name in SECTIONS}
    for name, text in texts.items():
        answers[name.replace("_", " ")] = OutputSection(text) if isinstance(text, str) else text
    return parse_setup("rac1", answers)


@pytest.mark.parametrize(
    ("config", "files", "autostart"),
    [
        ("CRS-4622: Oracle High Availability Services autostart is enabled.", "", True),
        ("CRS-4621: Oracle High Availability Services autostart is disabled.", "", False),
        ("CRS-4563: Insufficient user privileges.", "/etc/oracle/scls_scr/rac1/root/ohasdstr:disable", False),
        # The node had another name once; and it is a directory of the short name.
        ("", "/etc/oracle/scls_scr/old/root/ohasdstr:disable\n/etc/oracle/scls_scr/RAC1/root/ohasdstr:enable", True),
    ],
)
def test_autostart_comes_from_crsctl_or_from_its_file(config, files, autostart):
    assert setup(autostart=config, ohasdstr=files, boot="name rac1.example.com").autostart is autostart


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            OutputSection("timeout: failed to run command '/bin/crsctl'", 127),
            "the Grid home that olr.loc names has no crsctl",
        ),
        (OutputSection("", 124), "did not answer there within 15 s: Clusterware starts, or hangs"),
        (
            OutputSection("sh: 3: timeout: not found", 127),
            "the program timeout, which racwire runs `crsctl check crs` with",
        ),
        (OutputSection("sh: line 5: timeout: command not found", 127), "is not installed there"),
        (
            OutputSection("##racwire-no-home\ngrep: /etc/oracle/olr.loc: Permission denied", 2),
            "this user may not read /etc/oracle/olr.loc there, which names the Grid home",
        ),
        (
            OutputSection("##racwire-no-home\ngrep: /etc/oracle/olr.loc: No such file or directory", 2),
            "no olr.loc there names a Grid home",
        ),
        (OutputSection("what?", 1), '"what?"'),
        (OutputSection("CRS-4563: Insufficient user privileges.", 1), "this user may not run `crsctl check crs` there"),
        (
            OutputSection("timeout: failed to run command '/u01/bin/crsctl': Permission denied", 126),
            "the Grid owner and root may",
        ),
    ],
)
def test_the_reason_why_clusterware_did_not_answer_is_reported(answer, reason):
    parsed = setup(services=answer, autostart=answer)
    assert isinstance(parsed.services, Unknown)
    assert isinstance(parsed.autostart, Unknown)
    assert reason in parsed.services.reason


def test_a_stack_that_is_down_is_a_valid_answer():
    down = "CRS-4639: Could not contact Oracle High Availability Services\nCRS-4000: Command Check failed."
    assert setup(services=OutputSection(down, 1)).services[0].startswith("CRS-4639: ")


def test_the_home_of_the_running_daemon_has_priority_over_an_old_olr_loc():
    runs = "2:b\nvisible\n20/cmdline:1:/u01/app/19.0.0/grid/bin/ocssd.bin "
    assert setup(processes=runs, homes="crs_home=/u01/app/18.0.0/grid").grid_home == "/u01/app/19.0.0/grid"
    assert setup(homes="# old\ncrs_home=/u01/grid\ncrs_home=/u02/grid").grid_home == "/u01/grid"
    assert isinstance(setup().grid_home, Unknown)


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("chassis_asset_tag:7783-7084-3265-9085-8269-3286-77\nsys_vendor:Microsoft Corporation", "Microsoft Azure"),
        # Hyper-V on one's own machines is no cloud.
        ("sys_vendor:Microsoft Corporation\nproduct_name:Virtual Machine", ""),
        ("sys_vendor:Google\nproduct_name:Google Compute Engine", "Google Cloud"),
        ("chassis_asset_tag:OracleCloud.com\nsys_vendor:QEMU", "Oracle Cloud"),
        ("chassis_asset_tag:OracleCloud.com\nthere:/opt/oracle.cellos", "Oracle Engineered System"),
        ("sys_vendor:Oracle Corporation\nproduct_name:ORACLE SERVER X8-2", ""),
    ],
)
def test_the_platform_is_derived_only_from_certain_signs(text, platform):
    assert setup(platform=text).platform == platform


@pytest.mark.parametrize(
    ("line", "machine", "address"),
    [
        ("   0: 0A01A8C0:0016 0B01A8C0:C350 01", "x86_64", "192.168.1.10"),
        ("   0: C0A8010A:0016 C0A8010B:C350 01", "s390x", "192.168.1.10"),
        (
            "   3: 0000000000000000FFFF00000A01A8C0:0016 0000000000000000FFFF00000B01A8C0:C350 01",
            "x86_64",
            "192.168.1.10",
        ),
        ("   4: B80D01200000000000000000010000000:0016 0:1 01", "x86_64", None),
        (
            "  12: B80D0120000000000000000001000000:0016 B80D0120000000000000000002000000:C350 01",
            "aarch64",
            "2001:db8::1",
        ),
        ("rubbish", "", None),
    ],
)
def test_logins_have_the_address_of_the_node(line, machine, address):
    assert parse_logins(line, machine) == ((address,) if address else ())


LLDP = """\
lldp.enp7s0.via=LLDP
lldp.enp7s0.rid=2
lldp.enp7s0.chassis.mac=80:6a:00:73:41:54
lldp.enp7s0.chassis.name=leaf-9-26
lldp.enp7s0.chassis.descr=Cisco Nexus Operating System (NX-OS) Software
TAC support: http://www.cisco.com/tac
Copyright (c) 2002-2014
lldp.enp7s0.port.ifname=Ethernet1/5
lldp.enp7s0.port.descr=rac1 private
lldp.enp7s0.port.mfs=9216
lldp.enp7s0.vlan.vlan-id=1
lldp.bond1.200.via=LLDP
lldp.bond1.200.chassis.mac=cc:d3:42:d3:fa:4a
lldp.bond1.200.port.mac=fe:54:00:08:ce:7f
lldp.bond1.200.port.mfs=0
lldp.bond1.200.via=CDPv2
lldp.bond1.200.chassis.name=other
"""


def test_the_switch_ports_of_the_neighbours_are_read():
    leaf, by_mac, other = parse_lldp(OutputSection(LLDP))
    assert leaf == LldpNeighbour(
        "enp7s0",
        "leaf-9-26",
        "Cisco Nexus Operating System (NX-OS) Software",
        "Ethernet1/5",
        9216,
        chassis="80:6a:00:73:41:54",
    )
    assert (by_mac.interface, by_mac.switch, by_mac.port) == ("bond1.200", "cc:d3:42:d3:fa:4a", "fe:54:00:08:ce:7f")
    assert isinstance(by_mac.max_frame_bytes, Unknown)
    assert (other.interface, other.switch) == ("bond1.200", "other")
    assert by_mac.port_mac == "fe:54:00:08:ce:7f"


@pytest.mark.parametrize(
    ("line", "chassis"),
    [
        ("chassis.mac=00:1C:73:0A:0B:0C", "00:1c:73:0a:0b:0c"),
        ("chassis.mac=001c.730a.0b0c", "00:1c:73:0a:0b:0c"),
        ("chassis.local=rack 7 switch 2", "rack 7 switch 2"),
        ("chassis.local=00-1c-73-0a-0b-0c", "00:1c:73:0a:0b:0c"),
        ("chassis.ip=10.0.0.5", "10.0.0.5"),
        ("chassis.name=sw", ""),
    ],
)
def test_the_identifier_of_a_chassis_is_a_mac_address_in_one_spelling_or_a_text(line, chassis):
    (found,) = parse_lldp(OutputSection(f"lldp.eth1.via=LLDP\nlldp.eth1.{line}\n"))
    assert found.chassis == chassis


@pytest.mark.parametrize(
    ("vlans", "untagged"),
    [
        ((("100", "yes"), ("200", "no")), 100),
        ((("200", "no"), ("100", "yes")), 100),
        ((("200", "no"),), None),
        ((("0", "yes"),), None),
        ((("x", "yes"),), None),
        ((), None),
    ],
)
def test_the_vlan_of_untagged_frames_is_the_one_with_pvid(vlans, untagged):
    lines = [f"lldp.eth1.vlan.vlan-id={tag}\nlldp.eth1.vlan.pvid={pvid}\nlldp.eth1.vlan=x" for tag, pvid in vlans]
    mgmt = ["lldp.eth1.chassis.mgmt-ip=10.0.0.5", "lldp.eth1.chassis.mgmt-ip=fe80::1"]
    (found,) = parse_lldp(OutputSection("\n".join(("lldp.eth1.via=LLDP", *mgmt, *lines))))
    assert (found.untagged_vlan, found.management_ips) == (untagged, ("10.0.0.5", "fe80::1"))


@pytest.mark.parametrize(
    ("answer", "lacks"),
    [
        (OutputSection("sh: lldpctl: not found", 127), True),
        (OutputSection("sh: 1: timeout: not found", 127), False),
        (
            OutputSection("2026 [WARN/control] unable to connect to socket /run/lldpd.socket: Connection refused", 1),
            True,
        ),
        (OutputSection("unable to connect to socket /run/lldpd.socket: Permission denied", 1), False),
        (OutputSection("", 124), False),
        (OutputSection(""), False),
    ],
)
def test_a_node_without_an_lldpd_differs_from_one_that_refuses(answer, lacks):
    assert parse_setup("rac1", {"lldp": answer}).lacks_lldpd is lacks


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (OutputSection("sh: lldpctl: not found", 127), "not installed"),
        (OutputSection("", 124), "did not answer in time"),
        (
            OutputSection("unable to get a connection to /run/lldpd/lldpd.socket: Permission denied", 1),
            "only root and the group of lldpd's socket",
        ),
        (
            OutputSection(
                "2026-11-23T01:42:48 [WARN/control] unable to connect to socket /run/lldpd.socket: Permission denied", 1
            ),
            '("unable to connect to socket /run/lldpd.socket: Permission denied")',
        ),
        (
            OutputSection("[WARN/control] unable to connect to socket /run/lldpd.socket: No such file or directory", 1),
            "does not run there",
        ),
        (OutputSection("sh: 1: timeout: not found", 127), "the program timeout, which racwire runs `lldpctl` with"),
    ],
)
def test_no_answer_of_lldpd_differs_from_no_neighbour(answer, reason):
    neighbours = parse_lldp(answer)
    assert isinstance(neighbours, Unknown)
    assert reason in neighbours.reason
    assert parse_lldp(OutputSection("")) == ()


@pytest.mark.parametrize(
    ("text", "network_services"),
    [
        ("active\ninactive\ninactive\ninactive", (NetworkService.NETWORK_MANAGER,)),
        (
            "active\nactive\ninactive\nunknown\nthere /run/wicked",
            (NetworkService.NETWORK_MANAGER, NetworkService.IFCFG),
        ),
        # One interface that did not come up, and the service is `failed`; it is started at the next boot all the same.
        ("inactive\nfailed\ninactive\ninactive", (NetworkService.IFCFG,)),
        # systemctl has the say where it speaks.
        ("inactive\ninactive\ninactive\nactive\nthere /run/NetworkManager", (NetworkService.WICKED,)),
        ("there /run/systemd/netif", (NetworkService.NETWORKD,)),
        ("", ()),
    ],
)
def test_the_running_network_services_are_read(text, network_services):
    assert parse_network_services(text) == network_services


def test_only_files_of_a_running_network_service_count():
    files = {
        "ifcfg": f"{FILE_MARK} /etc/sysconfig/network-scripts/ifcfg-eth1\nDEVICE=eth1\nMTU=9000",
        "networkd": f"{FILE_MARK} /etc/systemd/network/10.network\n[Match]\nName=eth1\n[Link]\nMTUBytes=8000",
        "devices": "eth1/address:52:54:00:a1:00:01\neth1/type:1",
    }
    assert setup(units="inactive\nactive\ninactive\ninactive", **files).kept_mtu("eth1").mtu == 9000
    assert setup(units="inactive\ninactive\nactive\ninactive", **files).kept_mtu("eth1").mtu == 8000
    assert (
        setup(units="active\ninactive\ninactive\ninactive", **files).kept_mtu("eth1").network_service
        is NetworkService.IFCFG_NETWORK_MANAGER
    )
    assert setup(units="", **files).kept_mtu("eth1").mtu is not None


def test_a_truncated_answer_does_not_mean_no_boot_configuration():
    assert isinstance(parse_setup("rac1", {"ifcfg": OutputSection("")}).kept, Unknown)


# Lines that look like something, in any order and number, with damage.
line = st.sampled_from(
    [
        f"{FILE_MARK} /etc/x/ifcfg-eth1",
        f"{FILE_MARK} ",
        "##racwire-masked",
        "[Match]",
        "[Link]",
        "[",
        "Name=*",
        "Name=",
        "MTUBytes=9K",
        "MTUBytes=K",
        "mtu=9000",
        "MTU='9",
        "network:",
        "  ethernets:",
        "    eth1:",
        "    eth1: {mtu: 1}",
        "      mtu: 9000",
        "\tmatch:",
        "- a",
        "*a: &b",
        "lldp.eth1.via=LLDP",
        "lldp..=",
        "connection.id:",
        "a:b:c:d:e\\",
        "   0: 0A01A8C0:0016 ",
        "eth1/address:",
        "eth1/type:32",
        "2:b",
        "1/cmdline:1:ora_pmon_",
        "1/cmdline:1:/bin/crsd.bin",
        "1/status:NSpid:",
        "visible",
        "there ",
        "active\nactive\nactive\nactive",
        "btime -1",
        "btime 99999999999999",
        "now x",
        "ip link set mtu 99999 dev",
        "mtu",
        "CRS-4622:",
        "crs_home=",
        "/etc/oracle/scls_scr//root/ohasdstr:enable",
        "a/b/c/d:",
        'DEVICE="',
        "HWADDR=",
        "id=",
        "type=ethernet",
    ]
)
texts = st.lists(line | st.text(max_size=12), max_size=8).map("\n".join)


@given(
    st.fixed_dictionaries(
        {
            name: st.builds(OutputSection, texts, st.sampled_from([0, 1, 124, 127]))
            for names in SETUP.sections.values()
            for name in names
        }
    )
)
def test_any_answer_of_a_node_is_parsed(answers):
    assert isinstance(parse_setup("rac1", answers), NodeSetup)


def test_crsctl_has_more_time_on_a_starting_stack_than_where_it_reads_a_file():
    limits = re.findall(r'timeout (\d+) "\$home/bin/crsctl" (\w+) crs', SETUP.text)
    assert limits == [("5", "config"), ("15", "check")]
    assert SETUP.limit_s is not None
    assert SETUP.limit_s >= 30

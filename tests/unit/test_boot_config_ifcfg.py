"""ifcfg files: those of Red Hat's family for the network service, and SUSE's for wicked."""

import pytest

from checks.model.facts import NetworkService, Unknown
from checks.sources.nodes.boot_config.active_manager import BootFiles, mtus_at_boot
from checks.sources.nodes.boot_config.ifcfg import connections, ifcfg_mtus
from checks.sources.nodes.boot_config.wicked import wicked_mtus
from tests.unit.boot_config_support import BOND, ETH1, ETH2, IB, file

SCRIPTS = "/etc/sysconfig/network-scripts"


def boot_mtus(*files, unmanaged=False):
    return ifcfg_mtus(tuple(connections(files, unmanaged=unmanaged)), (ETH1, ETH2, BOND, IB))


@pytest.mark.parametrize(
    ("name", "text", "interface", "mtu", "kind"),
    [
        ("ifcfg-eth1", "DEVICE=eth1\nONBOOT=yes\nMTU=9000\n", "eth1", 9000, "ethernet"),
        ("ifcfg-eth1", "DEVICE='eth1'\nMTU=\"9000\" # jumbo, since March", "eth1", 9000, "ethernet"),
        ("ifcfg-eth1", "DEVICE=eth1\nMTU=1400\nMTU=9000", "eth1", 9000, "ethernet"),
        ("ifcfg-eth1", "DEVICE=eth1\nMTU=\n", "eth1", None, "ethernet"),
        ("ifcfg-eth1", "DEVICE=eth1\n#MTU=9000", "eth1", None, "ethernet"),
        ("ifcfg-eth1", "ONBOOT=yes\n MTU=9000", "eth1", 9000, "ethernet"),
        # Without DEVICE the hardware address decides, whatever the file is called.
        ("ifcfg-Private", "HWADDR=52:54:00:A1:00:02\nMTU=9000", "eth2", 9000, "ethernet"),
        ("ifcfg-bond1", "DEVICE=bond1\nTYPE=Bond\nBONDING_MASTER=yes\nMTU=9000", "bond1", 9000, "bond"),
        ("ifcfg-bond1.200", "DEVICE=bond1.200\nVLAN=yes", "bond1.200", None, "vlan"),
        ("ifcfg-ib0", "DEVICE=ib0\nTYPE=InfiniBand\nMTU=65520", "ib0", 65520, "infiniband"),
    ],
)
def test_the_network_service_configures_the_mtu(name, text, interface, mtu, kind):
    (boot,) = boot_mtus(file(f"{SCRIPTS}/{name}", text)).values()
    assert (boot.interface, boot.mtu, boot.kind) == (interface, mtu, kind)
    assert (boot.network_service, boot.file) == (NetworkService.IFCFG, f"{SCRIPTS}/{name}")


@pytest.mark.parametrize("name", ["ifcfg-lo", "ifcfg-eth1:1", "ifcfg-eth1.bak", "ifcfg-eth1.rpmsave", "ifcfg-eth1~"])
def test_loopback_aliases_and_copies_are_ignored(name):
    assert boot_mtus(file(f"{SCRIPTS}/{name}", "DEVICE=eth1\nMTU=9000")) == {}


def test_nm_controlled_decides_which_service_owns_the_file():
    ours, theirs = file(f"{SCRIPTS}/ifcfg-eth1", "NM_CONTROLLED=no"), file(f"{SCRIPTS}/ifcfg-eth2", "DEVICE=eth2")
    assert set(boot_mtus(ours, theirs)) == {"eth2"}
    assert set(boot_mtus(ours, theirs, unmanaged=True)) == {"eth1"}


def test_an_mtu_that_dhcp_may_set_is_unknown():
    assert isinstance(boot_mtus(file(f"{SCRIPTS}/ifcfg-eth1", "BOOTPROTO=dhcp"))["eth1"].mtu, Unknown)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ifcfg-eth1", "BOOTPROTO='static'\nSTARTMODE='auto'\nMTU='9000'", ("eth1", 9000, "ethernet")),
        ("ifcfg-bond0", "BONDING_MASTER='yes'\nBONDING_SLAVE_0='eth1'\nMTU='9000'", ("bond0", 9000, "bond")),
        ("ifcfg-vlan200", "ETHERDEVICE='bond0'", ("vlan200", None, "vlan")),
        ("ifcfg-br0", "BRIDGE='yes'\nBRIDGE_PORTS='eth1'\nMTU=''", ("br0", None, "bridge")),
        ("ifcfg-ib0", "IPOIB_MODE='connected'\nMTU='65520'", ("ib0", 65520, "infiniband")),
    ],
)
def test_wicked_configures_the_mtu(name, text, expected):
    (boot,) = wicked_mtus([file(f"/etc/sysconfig/network/{name}", text)], (ETH1,)).values()
    assert (boot.interface, boot.mtu, boot.kind) == expected
    assert boot.network_service is NetworkService.WICKED


@pytest.mark.parametrize("name", ["ifcfg-lo", "ifcfg-eth1:1", "ifcfg-eth1.scpmbackup"])
def test_wicked_ignores_loopback_aliases_and_copies(name):
    assert wicked_mtus([file(f"/etc/sysconfig/network/{name}", "MTU='9000'")], (ETH1,)) == {}


def test_an_interface_that_wicked_does_not_start():
    text = "STARTMODE='off'\nIPADDR='192.168.10.1/24'\nIPADDR_1='10.0.0.1'\nPREFIXLEN_1='8'"
    kept = wicked_mtus([file("/etc/sysconfig/network/ifcfg-eth1", text)], (ETH1,))["eth1"]
    assert (kept.starts, kept.addresses, kept.is_by_dhcp) == (False, ("192.168.10.1/24", "10.0.0.1/8"), False)


@pytest.mark.parametrize(
    ("unread", "interfaces"),
    [
        (f"{SCRIPTS}/ifcfg-eth1", {"eth1"}),
        (SCRIPTS, {"eth1", "eth2", "ib0"}),
        ("/etc/sysconfig", {"eth1", "eth2", "ib0"}),
    ],
)
def test_what_may_not_be_read_makes_the_mtu_unknown_and_names_no_directory_as_a_file(unread, interfaces):
    files = BootFiles(ifcfg=(file(unread, is_readable=False),))
    kept, _ = mtus_at_boot(files, (NetworkService.IFCFG,), (ETH1, ETH2, BOND, IB))
    assert {of.interface for of in kept} == interfaces
    for of in kept:
        assert of.network_service is NetworkService.IFCFG
        assert isinstance(of.mtu, Unknown)
        assert of.mtu.reason == f"this user may not read {unread}; root may"
        assert of.file == (unread if unread.endswith("ifcfg-eth1") else "")
    assert mtus_at_boot(files, (NetworkService.NETWORKD,), (ETH1, ETH2)) == ((), ())


def test_a_readable_file_decides_next_to_an_unreadable_directory():
    files = BootFiles(
        ifcfg=(file(f"{SCRIPTS}/ifcfg-eth1", "MTU=9000"),), networkd=(file("/etc/systemd", is_readable=False),)
    )
    kept, _ = mtus_at_boot(files, (), (ETH1,))
    assert [(of.interface, of.mtu) for of in kept] == [("eth1", 9000)]

"""systemd-networkd's files: the file that applies to an interface, and its MTU."""

import pytest

from checks.model.facts import NetworkService, Unknown
from checks.sources.nodes.boot_config.device import Device
from checks.sources.nodes.boot_config.networkd import link_file_mtus, networkd_mtus
from tests.unit.boot_config_support import BOND, ETH1, ETH2, file

ETC, RUN, USR = (f"/{place}/systemd/network" for place in ("etc", "run", "usr/lib"))
DEVICES = (ETH1, ETH2, BOND, Device("lo", kind="loopback"))


def network(match="Name=eth1", mtu="9000", link=""):
    return f"[Match]\n{match}\n[Link]\nMTUBytes={mtu}\n{link}\n[Network]\nAddress=192.168.10.1/24"


def boot_mtus(*files):
    return networkd_mtus(files, DEVICES)


@pytest.mark.parametrize(
    ("written", "mtu"),
    [("9000", 9000), ("9K", 9216), ("1500B", 1500), ("", None), ("1G", None), ("jumbo", None), ("9k", 9216)],
)
def test_an_mtu_can_have_a_suffix_to_the_base_of_1024(written, mtu):
    assert boot_mtus(file(f"{ETC}/10-eth1.network", network(mtu=written)))["eth1"].mtu == mtu


@pytest.mark.parametrize(
    ("match", "interfaces"),
    [
        ("Name=eth1", {"eth1"}),
        ("Name=eth*", {"eth1", "eth2"}),
        ("Name=ens* eth2", {"eth2"}),
        ("Name=!eth1 lo bond1", {"eth2"}),
        ("Name=eth1\nName=eth2", {"eth1", "eth2"}),
        ("Name=eth1\nName=\nName=eth2", {"eth2"}),
        ("MACAddress=52:54:00:A1:00:02", {"eth2"}),
        ("PermanentMACAddress=52-54-00-a1-00-01", {"eth1"}),
        ("Type=ether\nName=*2", {"eth2"}),
        ("Type=bond", {"bond1"}),
        ("Kind=bond", {"bond1"}),
        ("", {"eth1", "eth2", "bond1", "lo"}),
    ],
)
def test_a_file_applies_to_interfaces_that_match_all_its_conditions(match, interfaces):
    assert set(boot_mtus(file(f"{ETC}/10.network", network(match)))) == interfaces


def test_the_first_file_by_name_counts_in_any_directory():
    later, first = (
        file(f"{ETC}/50-eth1.network", network(mtu="1400")),
        file(f"{USR}/10-eth.network", network("Name=eth*")),
    )
    assert boot_mtus(later, first)["eth1"].mtu == 9000


def test_of_two_files_with_one_name_the_one_in_etc_counts():
    assert (
        boot_mtus(file(f"{USR}/10.network", network(mtu="1400")), file(f"{ETC}/10.network", network()))["eth1"].mtu
        == 9000
    )


def test_a_link_to_dev_null_and_an_empty_file_mask_a_file_with_the_same_name():
    usr = file(f"{USR}/10.network", network())
    assert boot_mtus(usr, file(f"{ETC}/10.network", is_masked=True)) == {}
    assert boot_mtus(usr, file(f"{ETC}/10.network")) == {}


def test_drop_ins_are_read_after_the_file_in_order_of_their_names():
    boot = boot_mtus(
        file(f"{ETC}/10.network", network(mtu="1500")),
        file(f"{ETC}/10.network.d/20-mtu.conf", "[Link]\nMTUBytes=9000"),
        file(f"{ETC}/10.network.d/10-mtu.conf", "[Link]\nMTUBytes=1400"),
    )["eth1"]
    assert (boot.mtu, boot.file) == (9000, f"{ETC}/10.network.d/20-mtu.conf")


def test_files_in_run_are_gone_after_a_boot_except_those_that_netplan_generates():
    assert boot_mtus(file(f"{RUN}/10-eth1.network", network())) == {}
    assert (
        boot_mtus(file(f"{RUN}/10-netplan-eth1.network", network()))["eth1"].network_service is NetworkService.NETPLAN
    )


def test_an_unmanaged_interface_has_no_boot_configuration():
    assert boot_mtus(file(f"{ETC}/10.network", network(link="Unmanaged=yes"))) == {}


def test_a_netdev_file_sets_the_mtu_if_the_network_file_does_not():
    netdev = file(f"{ETC}/bond7.netdev", "[NetDev]\nName=bond7\nKind=bond\nMTUBytes=9000")
    assert (boot_mtus(netdev)["bond7"].mtu, boot_mtus(netdev)["bond7"].kind) == (9000, "bond")
    with_network = boot_mtus(netdev, file(f"{ETC}/bond7.network", network("Name=bond7", "8000")))["bond7"]
    assert with_network.mtu == 8000


def test_a_condition_unknown_to_racwire_leaves_the_mtu_unknown():
    boot = boot_mtus(file(f"{ETC}/10.network", network("Driver=ixgbe")), file(f"{ETC}/20.network", network()))["eth1"]
    assert isinstance(boot.mtu, Unknown)
    assert "matches by Driver=" in boot.mtu.reason
    # Where another condition already fails, it does not matter.
    assert boot_mtus(file(f"{USR}/80.network", network("Driver=veth\nName=ve-*"))) == {}


def test_an_mtu_that_dhcp_may_set_is_unknown():
    text = "[Match]\nName=eth1\n[Network]\nDHCP=yes"
    assert isinstance(boot_mtus(file(f"{ETC}/10.network", text))["eth1"].mtu, Unknown)


def test_link_files_without_an_mtu_leave_no_doubt_whichever_matches():
    of_udev = file(f"{USR}/73-usb-net-by-mac.link", "[Match]\nPath=*-usb-*\n[Link]\nNamePolicy=mac")
    assert link_file_mtus([of_udev], DEVICES) == {}
    ours = file(f"{ETC}/80-eth1.link", "[Match]\nOriginalName=eth1\n[Link]\nMTUBytes=9000")
    assert isinstance(link_file_mtus([of_udev, ours], DEVICES)["eth1"].mtu, Unknown)


def test_a_link_file_sets_an_mtu_with_any_network_service():
    default = file(f"{USR}/99-default.link", "[Match]\nOriginalName=*\n[Link]\nNamePolicy=keep")
    ours = file(f"{ETC}/10-eth1.link", "[Match]\nMACAddress=52:54:00:a1:00:01\n[Link]\nName=eth1\nMTUBytes=9000")
    boot = link_file_mtus([default, ours], DEVICES)
    assert set(boot) == {"eth1"}
    assert boot["eth1"].mtu == 9000
    assert link_file_mtus([file(f"{ETC}/10.link", "[Link]\nMTUBytes=9000")], DEVICES) == {}

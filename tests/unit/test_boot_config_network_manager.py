"""NetworkManager's configuration: its keyfiles if they can be read, otherwise the output of nmcli."""

import pytest

from checks.model.facts import NetworkService, Unknown
from checks.sources.nodes.boot_config.ifcfg import connections
from checks.sources.nodes.boot_config.network_manager import network_manager_mtus, parse_details, parse_listed
from tests.unit.boot_config_support import BOND, ETH1, ETH2, IB, file

ETC = "/etc/NetworkManager/system-connections"
KEYFILE = """\
    [connection]
    id=Private 1
    uuid=6d1f0c6e-1111-4a53-9d0a-6b1d5b2f7f10
    type=ethernet
    interface-name=eth1

    [ethernet]
    mtu=9000

    [ipv4]
    address1=192.168.10.1/24
    method=manual
"""


def boot_mtus(files=(), listed="", details="", ifcfg=(), devices=(ETH1, ETH2, BOND, IB)):
    read = tuple(connections(ifcfg, unmanaged=False))
    return network_manager_mtus(files, parse_listed(listed), parse_details(details), read, devices)


def test_a_keyfile_has_its_mtu():
    (boot, unread) = boot_mtus([file(f"{ETC}/eth1.nmconnection", KEYFILE)])
    assert not unread
    assert boot["eth1"].mtu == 9000
    assert (boot["eth1"].network_service, boot["eth1"].connection) == (NetworkService.NETWORK_MANAGER, "Private 1")
    assert boot["eth1"].file == f"{ETC}/eth1.nmconnection"


@pytest.mark.parametrize(
    ("text", "interface", "mtu"),
    [
        # Before 1.0, and in files unchanged since then.
        ("[connection]\ntype=802-3-ethernet\ninterface-name=eth1\n[802-3-ethernet]\nmtu=8900", "eth1", 8900),
        ("[connection]\ntype=ethernet\n[ethernet]\nmac-address=52:54:00:A1:00:02\nmtu=9000", "eth2", 9000),
        (
            "[connection]\ntype=bond\ninterface-name=bond1\n[ethernet]\nmtu=9000\n[bond]\nmode=active-backup",
            "bond1",
            9000,
        ),
        (
            "[connection]\ntype=infiniband\ninterface-name=ib0\n[infiniband]\nmtu=65520\ntransport-mode=connected",
            "ib0",
            65520,
        ),
        # 0 is NetworkManager's word for: leave it.
        ("[connection]\ntype=ethernet\ninterface-name=eth1\n[ethernet]\nmtu=0", "eth1", None),
        ("[connection]\ntype=ethernet\ninterface-name=eth1\n[ethernet]\nmtu=many", "eth1", None),
    ],
)
def test_the_interface_is_found_by_name_or_by_hardware_address(text, interface, mtu):
    boot, _ = boot_mtus([file(f"{ETC}/x.nmconnection", text)])
    assert boot[interface].mtu == mtu


def test_a_bond_does_not_match_the_connection_of_its_member_by_hardware_address():
    boot, _ = boot_mtus(
        [file(f"{ETC}/x", "[connection]\ntype=ethernet\n[ethernet]\nmac-address=52:54:00:a1:00:01\nmtu=9000")]
    )
    assert set(boot) == {"eth1"}


def test_an_mtu_that_dhcp_may_set_is_unknown():
    boot, _ = boot_mtus([file(f"{ETC}/x", "[connection]\ntype=ethernet\ninterface-name=eth1\n[ipv4]\nmethod=auto")])
    assert isinstance(boot["eth1"].mtu, Unknown)


def test_files_in_run_are_gone_after_a_boot_except_those_that_netplan_generates():
    other = KEYFILE.replace("eth1", "eth2").replace("1111", "2222")
    boot, _ = boot_mtus(
        [
            file("/run/NetworkManager/system-connections/eth1.nmconnection", KEYFILE),
            file("/run/NetworkManager/system-connections/netplan-eth2.nmconnection", other),
        ]
    )
    assert set(boot) == {"eth2"}
    assert boot["eth2"].network_service is NetworkService.NETPLAN


def test_of_several_connections_the_autoconnecting_one_with_the_highest_priority_counts():
    def one(name, mtu, *more):
        lines = [f"id={name}", f"uuid={name}", "type=ethernet", "interface-name=eth1", *more]
        return file(f"{ETC}/{name}", "\n".join(["[connection]", *lines, "[ethernet]", f"mtu={mtu}"]))

    plain, first = one("a", 1400), one("b", 9000, "autoconnect-priority=5")
    by_hand = one("c", 8000, "autoconnect=false", "autoconnect-priority=9")
    assert boot_mtus([plain, first, by_hand])[0]["eth1"].mtu == 9000
    # Among equals the one that is active now.
    assert boot_mtus([plain, one("b", 9000)], listed="b:b:802-3-ethernet:eth1")[0]["eth1"].mtu == 9000


LISTED = f"""\
Private\\: 1:u1:802-3-ethernet:eth1:{ETC}/eth1.nmconnection
System eth2:u2:802-3-ethernet:eth2:/etc/sysconfig/network-scripts/ifcfg-eth2
once:u3:802-3-ethernet:ib0:/run/NetworkManager/system-connections/once.nmconnection
lo:u4:loopback:lo:/run/NetworkManager/system-connections/lo.nmconnection
"""
DETAILS = """\
connection.id:Private\\: 1
connection.uuid:u1
connection.type:802-3-ethernet
connection.interface-name:eth1
connection.autoconnect:yes
connection.autoconnect-priority:0
802-3-ethernet.mtu:9000
802-3-ethernet.mac-address:
ipv4.method:manual
connection.id:System eth2
connection.uuid:u2
connection.type:802-3-ethernet
connection.interface-name:eth2
connection.autoconnect:yes
802-3-ethernet.mtu:auto
connection.id:once
connection.uuid:u3
connection.type:802-3-ethernet
connection.interface-name:eth1
802-3-ethernet.mtu:1400
connection.id:lo
connection.uuid:u4
connection.type:loopback
"""


def test_files_readable_only_by_root_are_read_through_nmcli():
    boot, unread = boot_mtus([file(f"{ETC}/eth1.nmconnection", is_readable=False)], LISTED, DETAILS)
    assert not unread
    assert (boot["eth1"].mtu, boot["eth1"].connection) == (9000, "Private: 1")
    assert boot["eth1"].file == f"{ETC}/eth1.nmconnection"
    assert (boot["eth2"].mtu, boot["eth2"].network_service) == (None, NetworkService.IFCFG_NETWORK_MANAGER)


def test_a_readable_file_has_priority_over_nmcli_which_may_not_have_reloaded_it():
    edited = file(f"{ETC}/eth1.nmconnection", KEYFILE.replace("9000", "1500").replace("6d1f0c6e-1111", "u1"))
    assert boot_mtus([edited], LISTED, DETAILS)[0]["eth1"].mtu == 1500


def test_an_nmcli_that_prints_no_files_prints_the_rest():
    listed = "eth1:u1:802-3-ethernet:eth1\n"
    boot, unread = boot_mtus([file(f"{ETC}/Private: 1", is_readable=False)], listed, DETAILS)
    assert boot["eth1"].mtu == 9000
    assert unread == ()


def test_without_files_and_nmcli_nothing_is_known():
    for secret in (file(f"{ETC}/eth1.nmconnection", is_readable=False), file(ETC, is_readable=False)):
        boot, unread = boot_mtus([secret])
        assert unread == (secret.path,)
        assert isinstance(boot["eth1"].mtu, Unknown)
        assert "bond1" not in boot


def test_copies_made_by_editors_and_packages_are_not_connections():
    boot, _ = boot_mtus([file(f"{ETC}/eth1.nmconnection~", KEYFILE), file(f"{ETC}/eth1.nmconnection.rpmsave", KEYFILE)])
    assert boot == {}


def test_an_ifcfg_file_read_by_networkmanager_is_one_of_its_connections():
    ifcfg = file(
        "/etc/sysconfig/network-scripts/ifcfg-eth2", "DEVICE=eth2\nNAME='System eth2'\nMTU=\"9000\"\nONBOOT=yes"
    )
    boot, _ = boot_mtus(listed=LISTED, details=DETAILS, ifcfg=[ifcfg])
    assert (boot["eth2"].mtu, boot["eth2"].network_service) == (9000, NetworkService.IFCFG_NETWORK_MANAGER)

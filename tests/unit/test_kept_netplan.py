"""netplan's YAML: what is understood of it, and what is left open."""

import pytest

from checks.model.facts import Keeper, Unknown
from checks.sources.nodes.boot_config.netplan import kept_by_netplan
from tests.unit.kept_support import BOND, ETH1, ETH2, file

PRIVATE = """\
    # The interconnect.
    network:
      version: 2
      renderer: networkd
      ethernets:
        eth1:
          mtu: 9000   # jumbo
          match:
            macaddress: "52:54:00:a1:00:01"
          set-name: "eth1"
        eth2: {mtu: 9000, addresses: [192.168.11.1/24]}
        leg:
          match: {name: "ens*"}
          mtu: 9000
      bonds:
        bond1:
          mtu: 8000
          parameters:
            mode: active-backup
      vlans:
        bond1.200:
          id: 200
          link: bond1
          mtu: 1500
"""


def kept(*files):
    return kept_by_netplan(files, (ETH1, ETH2, BOND))


def test_mappings_inline_and_indented_are_read():
    told = kept(file("/etc/netplan/01.yaml", PRIVATE))
    assert {name: of.mtu for name, of in told.items()} == {
        "eth1": 9000,
        "eth2": 9000,
        "bond1": 8000,
        "bond1.200": 1500,
    }
    assert (told["bond1"].keeper, told["bond1"].kind, told["bond1.200"].kind) == (Keeper.NETPLAN, "bond", "vlan")


@pytest.mark.parametrize(
    ("definition", "interfaces"),
    [
        ("match: {name: 'eth*'}", {"eth1", "eth2"}),
        ("match: {macaddress: 52:54:00:A1:00:02}", {"eth2"}),
        ("match: {name: 'eth*'}\n          set-name: priv0", {"priv0"}),
        ("match: {driver: ixgbe}", set()),
        ("optional: true", {"x"}),
    ],
)
def test_a_definition_is_about_the_interfaces_it_matches_or_names(definition, interfaces):
    text = f"""\
    network:
      ethernets:
        x:
          {definition}
          mtu: 9000
    """
    assert set(kept(file("/etc/netplan/01.yaml", text))) == interfaces


def test_later_files_change_earlier_ones_and_etc_hides_lib():
    def with_mtu(mtu):
        return f"network:\n  ethernets:\n    eth1:\n      mtu: {mtu}"

    first, second = file("/etc/netplan/01.yaml", with_mtu(1500)), file("/etc/netplan/90-jumbo.yaml", with_mtu(9000))
    hidden = file("/lib/netplan/90-jumbo.yaml", with_mtu(1400))
    told = kept(hidden, second, first)["eth1"]
    assert (told.mtu, told.file) == (9000, "/etc/netplan/90-jumbo.yaml")


@pytest.mark.parametrize("line", ["mtu: *jumbo", "<<: *defaults", "mtu: &jumbo 9000"])
def test_yaml_beyond_mappings_is_not_guessed_at(line):
    told = kept(file("/etc/netplan/01.yaml", f"network:\n  ethernets:\n    eth1:\n      {line}"))["eth1"]
    assert isinstance(told.mtu, Unknown)


def test_dhcp_can_bring_an_mtu():
    told = kept(file("/etc/netplan/01.yaml", "network:\n  ethernets:\n    eth1:\n      dhcp4: true"))["eth1"]
    assert isinstance(told.mtu, Unknown)


def test_a_file_that_may_not_be_read_says_nothing():
    assert kept(file("/etc/netplan/01.yaml", is_readable=False)) == {}

"""Commands for operators: the right ones for each network service, in the right order, to set and restore an MTU."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.change.plan.change_plan import Layer
from checks.change.steps.backup_commands import save_node
from checks.change.steps.mtu_commands import kept_lines, restored_lines, run_time_lines
from checks.change.steps.recording_commands import duration, options_of, record
from checks.model.facts import NetworkService
from checks.model.settings import ClusterSettings, DatabaseSettings, Settings

KEYFILE = "/etc/NetworkManager/system-connections/eth1.nmconnection"
IFCFG = "/etc/sysconfig/network-scripts/ifcfg-eth1"
NETWORK = "/etc/systemd/network/10-eth1.network"
DROP_IN = f"{NETWORK}.d/zz-racwire-mtu.conf"


def layer(service, file="", connection="", **more):
    facts = {
        "node": "rac1",
        "interface": "eth1",
        "role": "port",
        "level": 0,
        "networks": ("192.168.10.0/24",),
        "mtu_before": 1500,
        "mtu_after": 9000,
        "kind": "ethernet",
        "network_service": str(service),
        "file": file,
        "connection": connection,
    }
    return Layer(**{**facts, **more})


def boot_commands(*layers):
    return kept_lines(layers).lines


def restored(*layers):
    return restored_lines(layers).lines


def test_networkmanager_is_configured_by_the_name_of_the_connection():
    eth1 = layer(NetworkService.NETWORK_MANAGER, KEYFILE, "Wired connection 1")
    assert boot_commands(eth1) == ("nmcli connection modify 'Wired connection 1' 802-3-ethernet.mtu 9000",)
    assert restored(eth1) == ("nmcli connection modify 'Wired connection 1' 802-3-ethernet.mtu 0",)


def test_infiniband_has_its_own_property():
    ib0 = layer(NetworkService.NETWORK_MANAGER, "", "ib0", kind="infiniband", mtu_after=65520, kept_before=2044)
    assert boot_commands(ib0) == ("nmcli connection modify ib0 infiniband.mtu 65520",)
    assert restored(ib0) == ("nmcli connection modify ib0 infiniband.mtu 2044",)


def test_ifcfg_files_of_networkmanager_are_changed_by_nmcli_or_in_the_file():
    assert boot_commands(layer(NetworkService.IFCFG_NETWORK_MANAGER, IFCFG, "System eth1")) == (
        "nmcli connection modify 'System eth1' 802-3-ethernet.mtu 9000",
    )
    assert boot_commands(layer(NetworkService.IFCFG_NETWORK_MANAGER, IFCFG))[1] == f"nmcli connection load {IFCFG}"


def test_networkd_gets_a_drop_in_which_the_rollback_removes():
    eth1 = layer(NetworkService.NETWORKD, NETWORK)
    assert boot_commands(eth1) == (
        f"mkdir -p -m 755 {NETWORK}.d",
        f"printf '%s\\n' '[Link]' MTUBytes=9000 > {DROP_IN}",
        f"chmod 644 {DROP_IN}",
        "networkctl reload",
    )
    assert restored(eth1) == (f"rm -f {DROP_IN}", "networkctl reload")


def test_a_drop_in_of_an_earlier_change_gets_its_earlier_value_back():
    lowered = layer(NetworkService.NETWORKD, DROP_IN, mtu_before=9000, mtu_after=1500, kept_before=9000)
    assert "MTUBytes=1500" in boot_commands(lowered)[1]
    assert "MTUBytes=9000" in restored(lowered)[1]


def test_a_link_file_is_changed_in_place():
    link = "/etc/systemd/network/10-eth1.link"
    eth1 = layer(NetworkService.UNKNOWN, link, kept_before=1500)
    assert boot_commands(eth1) == (f"sed -i -e 's/^[[:space:]]*MTUBytes=.*/MTUBytes=9000/' {link}",)


def test_netplan_is_configured_by_section_and_by_the_key_in_its_file():
    vlan = layer(NetworkService.NETPLAN, "/etc/netplan/01.yaml", "bond0.100", kind="vlan")
    assert boot_commands(vlan) == (r"netplan set 'vlans.bond0\.100.mtu=9000'", "netplan generate")
    assert restored(vlan) == (r"netplan set 'vlans.bond0\.100.mtu=null'", "netplan generate")


def test_a_team_sets_the_mtu_of_its_members_which_still_have_their_own_boot_configuration():
    own = layer(NetworkService.NETWORK_MANAGER, interface="p0", connection="p0", role="member", level=0)
    for kind, names in (("team", ["team0"]), ("bond", ["p0", "team0"])):
        above = layer(NetworkService.NETWORK_MANAGER, interface="team0", connection="team0", kind=kind, level=1)
        assert [line.split()[4] for line in run_time_lines((own, above))] == names
        assert len(kept_lines((own, above)).lines) == 2


def test_a_bond_member_without_a_file_takes_the_mtu_of_its_bond_and_a_note_says_so():
    member = layer(NetworkService.UNKNOWN, role="member", interface="p0")
    bond = layer(NetworkService.NETWORK_MANAGER, "", "bond0", interface="bond0", kind="bond", level=1)
    plan = kept_lines([member, bond])
    assert plan.lines == ("nmcli connection modify bond0 802-3-ethernet.mtu 9000",)
    assert "p0 has no file that sets an MTU and will take the MTU of the bond at boot" in plan.note


def test_an_interface_of_no_known_service_is_named_and_gets_no_command():
    plan = kept_lines([layer(NetworkService.UNKNOWN)])
    assert (plan.lines, plan.unknown) == ((), ("eth1",))


@pytest.mark.parametrize(
    "text",
    [
        "DEVICE=eth1\nMTU=1500\nONBOOT=yes\n",
        "DEVICE=eth1",
        "DEVICE=eth1\nMTU=1500",
        "MTU=1500\n  MTU='4000'\nDEVICE=x\n",
    ],
)
@pytest.mark.parametrize("service", [NetworkService.IFCFG, NetworkService.WICKED])
def test_an_ifcfg_file_has_the_mtu_once_however_often_the_command_runs(service, text, tmp_path):
    file = tmp_path / "ifcfg-eth1"
    file.write_text(text)
    eth1 = layer(service, str(file))
    for _ in range(2):
        subprocess.run(["sh", "-c", "\n".join(boot_commands(eth1))], check=True)
    lines = file.read_text().splitlines()
    assert [line for line in lines if "MTU" in line] == ["MTU=9000"]
    subprocess.run(["sh", "-c", "\n".join(restored(eth1))], check=True)
    assert file.read_text().splitlines() == [line for line in text.splitlines() if "MTU" not in line]


def stack(**mtus):
    """A VLAN on a bond of two members."""
    levels = {"p0": 0, "p1": 0, "bond0": 1, "bond0.100": 2}
    return [
        layer(NetworkService.IFCFG, interface=name, level=level, mtu_before=mtus["before"], mtu_after=mtus["after"])
        for name, level in levels.items()
    ]


def names(lines):
    return [shlex.split(line)[4] for line in lines]


def test_layers_are_raised_from_the_bottom_and_lowered_from_the_top():
    assert names(run_time_lines(stack(before=1500, after=9000))) == ["p0", "p1", "bond0", "bond0.100"]
    assert names(run_time_lines(stack(before=9000, after=1500)))[:2] == ["bond0.100", "bond0"]


LEVELS = st.lists(st.integers(0, 4), min_size=1, max_size=8)


@given(LEVELS, st.data())
@settings(max_examples=30)
def test_no_command_sets_an_mtu_above_that_of_the_layer_below(levels, data):
    """Each layer is on top of all layers of the level below; the kernel refuses a VLAN above its parent's MTU, and
    lowers it with the parent."""
    before, after = data.draw(st.sampled_from([(1500, 9000), (9000, 1500), (1500, 1500)]))
    layers = [
        layer(NetworkService.IFCFG, interface=f"i{n}", level=level, mtu_before=before, mtu_after=after)
        for n, level in enumerate(levels)
    ]
    now = {one.interface: before for one in layers}
    for line in run_time_lines(layers):
        name, mtu = shlex.split(line)[4], int(shlex.split(line)[6])
        own = next(one for one in layers if one.interface == name)
        below = [now[one.interface] for one in layers if one.level < own.level]
        above = [now[one.interface] for one in layers if one.level > own.level]
        assert mtu <= min(below, default=mtu)
        assert mtu >= max(above, default=mtu)
        now[name] = mtu
    assert set(now.values()) == {after}


@given(st.sampled_from(sorted(NetworkService)), st.text(min_size=1, max_size=15), st.text(min_size=1, max_size=20))
@settings(max_examples=60)
def test_names_of_interfaces_connections_and_files_are_single_shell_words(service, name, connection):
    odd = layer(service, "", connection, interface=name, kept_before=4000)
    for line in (*run_time_lines([odd]), *boot_commands(odd), *restored(odd)):
        words = shlex.split(line)
        assert words[0] in ("ip", "nmcli", "sed", "mkdir", "printf", "chmod", "networkctl", "netplan", "rm")
        assert not {";", "&&", "|", "$("} & set(words) - {name, connection}


def test_the_configuration_files_are_archived_with_the_profile_and_the_addresses():
    block = save_node("rac2", "/u01/grid", "2026-11-20-a", ["/etc/systemd/network", "/etc/rc.d/rc.local"])
    text = "\n".join(block.lines)
    assert "/var/tmp/racwire-2026-11-20-a/network.tar.gz etc/systemd/network etc/rc.d/rc.local" in text
    assert "/u01/grid/gpnp/rac2/profiles/peer/profile.xml" in text
    assert "/u01/grid/bin/ocrconfig -local -manualbackup" in text
    assert "umask 077" in text  # connections hold passwords


def test_recordings_are_of_the_same_cluster_and_database_and_contain_no_password():
    settings = Settings(
        cluster=ClusterSettings(networks=("192.168.10.0/24",), peers=("rac2",)),
        database=DatabaseSettings(connect="scan:1521/prod", user="racwire", password_file="/home/oracle/.pw"),
    )
    line = record("/shared/before.rec", "mtu1500", 600, options_of(settings))
    assert line == (
        "racwire record --for 10m --label mtu1500 --network 192.168.10.0/24 --peer rac2 --connect scan:1521/prod "
        "--user racwire --password-file /home/oracle/.pw /shared/before.rec"
    )


@pytest.mark.parametrize(("seconds", "text"), [(5, "5s"), (90, "90s"), (600, "10m"), (7200, "2h")])
def test_durations_have_the_form_that_racwire_accepts(seconds, text):
    assert duration(seconds) == text

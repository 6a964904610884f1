"""The network files of practice nodes: written as by installers, applied as by the real network services."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from racwire_lab.cluster import boot_faults, network_services
from racwire_lab.cluster.boot_faults import NextBoot
from racwire_lab.cluster.nics import Nic
from racwire_lab.programs.node_system import ifcfg, keyfile, links, networkd, nmcli_changes, nmcli_output
from racwire_lab.programs.node_system.wanted import Wanted

NICS = [
    Nic("eth0", 1500, "10.20.0.2/24", None),
    Nic("eth1", 9000, "192.168.10.2/24", "169.254.1.1/17"),
    Nic("eth2", 1500, "192.168.11.2/24", "169.254.130.1/17"),
]


def written(keeper: str, etc: Path) -> None:
    for name, text in network_services.files(keeper, "rac2", NICS).items():
        path = etc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)


def read(keeper: str, etc: Path) -> list[object]:
    if keeper == "keyfile":
        return list(keyfile.read(etc / "NetworkManager/system-connections"))
    if keeper == "ifcfg":
        return list(ifcfg.read(etc / "sysconfig/network-scripts"))
    return list(networkd.read([etc / "systemd/network"], ["eth0", "eth1", "eth2", "eth3"]))


@pytest.mark.parametrize("keeper", ["keyfile", "ifcfg", "networkd"])
def test_a_node_boots_from_its_first_files_into_its_earlier_state(keeper: str, tmp_path: Path) -> None:
    written(keeper, tmp_path)
    assert read(keeper, tmp_path) == [
        Wanted("eth0", ("10.20.0.2/24",), None),
        Wanted("eth1", ("192.168.10.2/24",), 9000),
        Wanted("eth2", ("192.168.11.2/24",), None),
    ]


@pytest.mark.parametrize("keeper", ["keyfile", "ifcfg", "networkd"])
def test_the_faults_of_the_next_boot_are_in_a_file_and_leave_it_as_it_was(keeper: str, tmp_path: Path) -> None:
    healthy, broken = NextBoot("192.168.11.2"), NextBoot("192.168.11.62", is_set_up=False)
    for mtu in (1500, 9000):
        (text,) = (
            text
            for path, text in network_services.files(keeper, "rac2", [replace(NICS[2], mtu=mtu)]).items()
            if path == network_services.file_of(keeper, "eth2")
        )
        wrong = boot_faults.edited(keeper, text, healthy, broken)
        path = tmp_path / network_services.file_of(keeper, "eth2")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wrong)
        path.chmod(0o600)
        found = Wanted("eth2", ("192.168.11.62/24",), 9000 if mtu == 9000 else None, at_boot=False)
        assert read(keeper, tmp_path) in ([found], [])
        assert boot_faults.edited(keeper, wrong, broken, healthy) == text


@pytest.mark.parametrize("keeper", ["keyfile", "ifcfg", "networkd"])
def test_files_follow_a_renamed_interface(keeper: str) -> None:
    def renamed(files: dict[str, str], old: str, new: str) -> dict[str, str]:
        return {
            network_services.renamed(name, old, new): network_services.renamed(text, old, new)
            for name, text in files.items()
        }

    before = network_services.files(keeper, "rac2", NICS)
    after = renamed(before, "eth2", "ens2f1")
    assert not any("eth2" in text for text in (*after, *after.values()))
    assert sum("ens2f1" in name for name in after) == 1
    assert renamed(after, "ens2f1", "eth2") == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DEVICE=eth1\nMTU=9000\n", Wanted("eth1", (), 9000)),
        ("DEVICE='eth1'\nMTU=\"9000\"  # large\nMTU=1500\n", Wanted("eth1", (), 1500)),
        ("DEVICE=eth1\n#MTU=9000\nMTU=\n", Wanted("eth1", (), None)),
        ("DEVICE=eth1\nIPADDR=10.0.0.1\nNETMASK=255.255.0.0\n", Wanted("eth1", ("10.0.0.1/16",), None)),
        ("DEVICE=a\nIPADDR0=10.0.0.1\nPREFIX0=8\nIPADDR1=10.0.1.1\n", Wanted("a", ("10.0.0.1/8", "10.0.1.1/24"), None)),
        ("DEVICE=eth1\nONBOOT=no\nNAME='a quote that is open\n", Wanted("eth1", (), None, at_boot=False)),
        ("MTU=9000\n", None),
    ],
)  # fmt: skip
def test_ifcfg_files_are_shell_assignments(text: str, expected: object) -> None:
    assert ifcfg.parse(text) == expected


def test_the_network_service_ignores_copies(tmp_path: Path) -> None:
    for name in ("ifcfg-eth1", "ifcfg-eth1.bak", "ifcfg-eth1~", "ifcfg-eth1.orig", "ifcfg-lo", "ifup-eth"):
        (tmp_path / name).write_text(f"DEVICE={name}\n")
    assert [wanted.interface for wanted in ifcfg.read(tmp_path)] == ["ifcfg-eth1"]


def test_networkd_uses_the_first_matching_file_and_its_drop_ins(tmp_path: Path) -> None:
    etc, run = tmp_path / "etc", tmp_path / "run"
    drop_ins = etc / "20-eth1.network.d"
    drop_ins.mkdir(parents=True)
    run.mkdir()
    (run / "05-all.network").write_text("[Match]\nName=eth*\n[Link]\nMTUBytes=1400\n")
    (etc / "05-all.network").write_text("[Match]\nName=eth7 eth8\n[Link]\nMTUBytes=9K\n")  # instead of that of /run
    (etc / "20-eth1.network").write_text("[Match]\nName=eth1\n[Link]\nMTUBytes=1500\n[Network]\nAddress=10.0.0.1/24\n")
    (drop_ins / "mtu.conf").write_text("[Link]\n; large\nMTUBytes=9000\n")
    (etc / "30-rest.network").write_text("[Match]\nName=!eth1 eth2\n[Link]\nMTUBytes=2000\nUnmanaged=yes\n")
    assert networkd.read([etc, run], ["eth1", "eth2", "eth7", "eth9"]) == [
        Wanted("eth1", ("10.0.0.1/24",), 9000),
        Wanted("eth7", (), 9216),
        Wanted("eth9", (), 2000, at_boot=False),
    ]


def test_networkmanager_reads_no_file_that_others_can_read(tmp_path: Path) -> None:
    text = network_services.files("keyfile", "rac2", NICS)["NetworkManager/system-connections/eth1.nmconnection"]
    for name, mode in (("eth1.nmconnection", 0o600), ("open.nmconnection", 0o644), ("eth1.nmconnection.bak", 0o600)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    assert [path.name for path in keyfile.files(tmp_path)] == ["eth1.nmconnection"]


def test_of_two_connections_for_one_interface_the_higher_priority_is_used(tmp_path: Path) -> None:
    for name, rest in (("a", "autoconnect-priority=-5\n"), ("b", ""), ("c", "autoconnect=false\n")):
        path = tmp_path / f"{name}.nmconnection"
        path.write_text(f"[connection]\nid={name}\ninterface-name=eth1\n{rest}[802-3-ethernet]\nmtu={ord(name)}\n")
        path.chmod(0o600)
    assert keyfile.read(tmp_path) == [Wanted("eth1", (), ord("b"))]


class TestModifying:
    """Compared with `nmcli --offline connection modify` of NetworkManager 1.42."""

    KEYFILE = network_services.files("keyfile", "rac2", NICS)["NetworkManager/system-connections/eth2.nmconnection"]

    @pytest.mark.parametrize("name", ["802-3-ethernet.mtu", "ethernet.mtu", "mtu"])
    def test_the_mtu_is_written_into_its_section(self, name: str) -> None:
        text = nmcli_changes.modified(self.KEYFILE, [name, "9000"])
        assert text == self.KEYFILE.replace("[ethernet]\n", "[ethernet]\nmtu=9000\n")
        assert nmcli_changes.modified(text, [name, "4000"]) == text.replace("9000", "4000")

    @pytest.mark.parametrize("value", ["0", "auto", ""])
    def test_a_removed_mtu_is_absent_from_the_file(self, value: str) -> None:
        text = nmcli_changes.modified(self.KEYFILE, ["802-3-ethernet.mtu", "9000"])
        assert nmcli_changes.modified(text, ["802-3-ethernet.mtu", value]) == self.KEYFILE

    def test_a_missing_section_is_added(self) -> None:
        text = nmcli_changes.modified("[connection]\nid=x\n", ["802-3-ethernet.mtu", "9000"])
        assert keyfile.parse(text) == {"connection": {"id": "x"}, "ethernet": {"mtu": "9000"}}

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["802-3-ethernet.foo", "1"], "invalid property 'foo': 'foo' not among [port, speed, duplex, "),
            (["foo.bar", "1"], "invalid or not allowed setting 'foo': 'foo' not among [connection, 802-3-ethernet (e"),
            (["infiniband.mtu", "1"], "invalid or not allowed setting 'infiniband': "),
            (["foo", "1"], "invalid <setting>.<property> 'foo'."),
            (["802-3-ethernet.mtu", "x"], "failed to modify 802-3-ethernet.mtu: 'x' is out of range [0, 4294967295]."),
            (["802-3-ethernet.mtu", "-1"], "failed to modify 802-3-ethernet.mtu: '-1' is out of range [0, 42"),
            (["802-3-ethernet.mtu"], "value for '802-3-ethernet.mtu' is missing."),
        ],
    )
    def test_errors_of_nmcli_are_shown_unchanged(self, words: list[str], message: str) -> None:
        with pytest.raises(nmcli_output.RefusalError) as refused:
            nmcli_changes.modified(self.KEYFILE, words)
        assert str(refused.value).startswith(message)
        assert refused.value.code == 2


def test_an_interface_without_an_mtu_in_its_file_keeps_its_mtu() -> None:
    assert links.brought_up(Wanted("eth1", ("10.0.0.1/24",), 9000)) == [
        "link set eth1 mtu 9000",
        "link set eth1 up",
        "address replace 10.0.0.1/24 brd + dev eth1",
    ]
    assert links.brought_up(Wanted("eth1", (), None)) == ["link set eth1 up"]

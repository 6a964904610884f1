"""The program that reads a node's setup, run by a real `sh` on a tree that looks like a node's."""

import asyncio
import os
import re
import shlex
import subprocess
from textwrap import dedent

import pytest

from checks.model.facts import NetworkService, NodeSetup, Unknown
from checks.model.journal import Journal
from checks.sources.entries import Program
from checks.sources.node_setup import SETUP
from checks.sources.nodes.sections import sections
from checks.sources.nodes.setup import read_setup
from checks.sources.nodes.setup_text import parse_setup
from checks.sources.nodes.shell import Completed, Shell

GRID = "/opt/grid"
FILES = {
    "/proc/sys/kernel/random/boot_id": "5f5d\n",
    "/proc/stat": "cpu 1 2\nbtime 1795251975\n",
    "/proc/1/cmdline": "/sbin/init\0",
    "/proc/1/status": "Name: init\nNSpid:\t1\n",
    "/proc/20/cmdline": f"{GRID}/bin/ocssd.bin \0",
    "/proc/20/status": "Name: ocssd.bin\nNSpid:\t20\n",
    "/proc/21/cmdline": f"{GRID}/bin/orarootagent.bin\0",
    "/proc/21/status": "NSpid:\t21\n",
    "/proc/22/cmdline": "asm_pmon_+ASM1\0",
    "/proc/22/status": "NSpid:\t22\n",
    "/proc/23/cmdline": "ora_pmon_prod1\0\0\0",
    "/proc/23/status": "NSpid:\t23\n",
    # In a container on the node, a person who looks, and a program that only has the word among its arguments.
    "/proc/30/cmdline": "ora_pmon_other1\0",
    "/proc/30/status": "NSpid:\t30\t7\n",
    "/proc/31/cmdline": f"vi\0{GRID}/bin/crsd.bin\0password-of-a-person\0",
    "/proc/31/status": "NSpid:\t31\n",
    "/proc/net/tcp": (
        "  sl  local_address rem_address   st\n"
        "   0: 010A000A:0016 020A000A:C350 01 00000000:00000000\n"
        "   1: 00000000:0016 00000000:0000 0A 00000000:00000000\n"
        "   2: 0A0AA8C0:05F1 0B0AA8C0:C351 01 00000000:00000000\n"
    ),
    "/etc/oracle/olr.loc": f"olrconfig_loc=/opt/x.olr\ncrs_home={GRID}\n",
    "/etc/oracle/scls_scr/elsewhere/root/ohasdstr": "enable\n",
    "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
    "/sys/class/net/eth1/address": "52:54:00:a1:00:01\n",
    "/sys/class/net/eth1/type": "1\n",
    "/sys/class/net/eth1/uevent": "INTERFACE=eth1\n",
    "/sys/class/net/bond1/address": "52:54:00:a1:00:01\n",
    "/sys/class/net/bond1/type": "1\n",
    "/sys/class/net/bond1/uevent": "DEVTYPE=bond\nINTERFACE=bond1\n",
    "/sys/class/net/ib0/type": "32\n",
    "/sys/class/net/ib0/mode": "connected\n",
    "/etc/NetworkManager/system-connections/eth1.nmconnection": (
        "[connection]\nid=eth1\nuuid=u1\ntype=ethernet\ninterface-name=eth1\n"
        "[ethernet]\nmtu=9000\n[802-1x]\npassword=hunter2\nprivate-key-password=hunter3\n[wifi-security]\npsk=hunter4\n"
    ),
    "/etc/systemd/network/wg0.netdev": "[NetDev]\nName=wg0\nKind=wireguard\n[WireGuard]\nPrivateKey=hunter5\n",
    "/etc/netplan/01.yaml": (
        "network:\n  ethernets:\n    eth2:\n      mtu: 9000\n      auth:\n        password: hunter6\n"
        '  wifis:\n    w0: {mtu: 1500, access-points: {x: {password: "hunter7"}}}\n'
        "  tunnels:\n    wg0:\n      key: hunter8\n      keys:\n        private: hunter9\n"
    ),
    "/etc/sysconfig/network-scripts/ifcfg-wlan0": "DEVICE=wlan0\nKEY_PASSPHRASE=hunter10\nMTU=1500\n",
    "/etc/rc.d/rc.local": "#!/bin/sh\n# mtu of old\nexport SECRET=hunter11\nip link set eth1 mtu 9000\n",
    "/etc/rc.local": "ip link set eth9 mtu 9000\n",
}
TOOLS = {
    "systemctl": "printf 'active\\ninactive\\ninactive\\ninactive\\n'; exit 3",
    "nmcli": """
        case $* in
        *FILENAME*) echo "Error: invalid field 'FILENAME'" >&2; exit 2 ;;
        *NAME,UUID*) printf '%s\\n' eth1:u1:802-3-ethernet:eth1 bond1:u2:bond:bond1 ;;
        *'-f UUID '*) printf 'u1\\nu2\\n' ;;
        *'uuid u2') printf 'connection.id:bond1\\nconnection.uuid:u2\\nconnection.type:bond\\n'
            printf 'connection.interface-name:bond1\\n802-3-ethernet.mtu:9000\\n' ;;
        esac""",
    "lldpctl": "printf 'lldp.eth1.via=LLDP\\nlldp.eth1.chassis.name=sw1\\nlldp.eth1.port.mfs=9236\\n'",
}
CRSCTL = 'case $1 in config) echo "CRS-4621: autostart is disabled." ;; *) echo "CRS-4638: HA is online" ;; esac'
_PLACES = re.compile(r"(?<![\w*\]])/(etc|run|usr|lib|sys|proc|var|opt|sbin)(?=[/ ])")


class OnATree(Shell):
    """A node's shell whose files lie under another root."""

    def __init__(self, root) -> None:
        self.node = "rac1"
        self.root = str(root)

    async def run(self, program: Program, *arguments: str, timeout_s: float | None = None) -> Completed:
        return Completed(0, run_in(self.root, program.text))


def run_in(root: str, program: str) -> str:
    moved = _PLACES.sub(lambda found: f"{root}/{found[1]}", program)
    ran = subprocess.run(
        ["sh"], input=moved, capture_output=True, text=True, timeout=30, check=True, cwd="/",
        env={"PATH": f"{root}/tools:/usr/bin:/bin", "LC_ALL": "C"},
    )  # fmt: skip
    assert ran.stderr == ""
    return ran.stdout.replace(root, "")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("node")
    for path, text in FILES.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.replace(GRID, f"{root}{GRID}") if path.endswith("olr.loc") else text)
    programs = {f"tools/{name}": text for name, text in TOOLS.items()}
    for path, text in {**programs, f"{GRID.lstrip('/')}/bin/crsctl": CRSCTL}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"#!/bin/sh\n{dedent(text)}\n")
        place.chmod(0o755)
    (root / "etc/rc.d/rc.local").chmod(0o755)
    (root / "etc/systemd/network/10-masked.network").symlink_to("/dev/null")
    return root


@pytest.fixture(scope="module")
def journal():
    return Journal()


@pytest.fixture(scope="module")
def setup(tree, journal) -> NodeSetup:
    return asyncio.run(read_setup(OnATree(tree), journal, 10))


def test_the_program_reads_the_boot(setup):
    assert (setup.boot_id, setup.booted_at) == ("5f5d", "2026-11-21T09:06:15+00:00")
    assert setup.taken_at_s > 1_700_000_000


def test_the_program_reads_the_oracle_processes_of_the_node(setup):
    assert setup.daemons == ("ocssd.bin", "orarootagent.bin")
    assert setup.instances == ("+ASM1", "prod1")
    assert setup.is_down is False
    assert setup.grid_home == GRID


def test_the_program_runs_crsctl_from_the_home_that_a_file_of_root_names(setup):
    assert setup.autostart is False
    assert setup.services == ("CRS-4638: HA is online",)


def test_the_program_reads_the_platform_and_the_logins(setup):
    assert setup.platform == "Amazon EC2"
    assert setup.infiniband_modes == {"ib0": "connected"}
    assert setup.clients_by == ("10.0.10.1",)
    assert [(n.interface, n.switch, n.max_frame_bytes) for n in setup.lldp] == [("eth1", "sw1", 9236)]


def test_the_program_reads_the_network_services_their_mtus_and_scripts(setup):
    assert setup.network_services == (NetworkService.NETPLAN, NetworkService.NETWORK_MANAGER)
    (unread,) = (k for k in setup.kept if k.network_service is NetworkService.NETPLAN)
    assert (unread.interface, unread.file) == ("ib0", "/etc/netplan/01.yaml")
    assert "because RAC is not certified on Ubuntu: check the MTU in /etc/netplan/01.yaml by hand" in unread.mtu.reason
    assert {k.interface: (k.mtu, k.network_service) for k in setup.kept if k is not unread} == {
        "bond1": (9000, NetworkService.NETWORK_MANAGER),
        "eth1": (9000, NetworkService.NETWORK_MANAGER),
        "wlan0": (1500, NetworkService.IFCFG_NETWORK_MANAGER),
    }
    assert [(f.interface, f.file) for f in setup.fragile] == [("eth1", "/etc/rc.d/rc.local")]


def test_no_secret_of_any_file_is_in_the_recorded_output(setup, journal):
    text = "".join(entry.text for entry in journal.entries)
    assert "mtu=9000" in text
    assert not re.search(r"hunter|password-of-a-person", f"{text}{setup}")
    assert {(entry.node, entry.topic) for entry in journal.entries} == {("rac1", topic) for topic in SETUP.topics}


def test_the_dry_run_names_each_tool_and_directory_of_the_program():
    documented = " ".join(read.how for read in SETUP.reads)
    directories = {os.path.dirname(word) for word in shlex.split(SETUP.text.replace("\n", " ")) if word.endswith("/*")}
    for word in {*directories, "nmcli", "crsctl", "lldpctl", "systemctl", "/etc/sysconfig", "/etc/netplan"}:
        assert word in documented


def test_a_file_unreadable_for_this_user_does_not_count_as_missing(tree):
    parsed = sections("##racwire processes\n2:b\n##racwire end 0\n##racwire rules\n\n##racwire end 0\n")
    hidden = parse_setup("rac1", parsed)
    assert isinstance(hidden.daemons, Unknown)
    assert "hidepid" in hidden.daemons.reason
    assert hidden.is_down is None

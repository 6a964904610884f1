"""Each command in the texts of racwire is judged by what it does to a running cluster, and each change in words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module

import pytest

from checks.diagnosis.catalogue import CATALOGUE
from checks.model.command_effect import effect_of
from checks.model.effect import Effect
from docs.generate.message_catalogue import ROOT, catalogue
from docs.generate.source_texts import source_tree
from tests.support.command_rights import need_root, wrong_users

PROGRAMS = (
    "arping asmcmd chmod chown chronyc cluvfy conntrack crsctl dmesg emctl ethtool exachk findmnt firewall-cmd "
    "gpnptool grep ifdown ifup ip iperf iperf3 ip6tables iptables iscsiadm journalctl kill killall lldpctl lsnrctl "
    "mcasttest.pl modprobe mpstat mtr netplan netstat networkctl nfsstat nft nmcli nping nstat numactl oclumon "
    "ocrconfig oifcfg olsnodes opatch orachk oradebug perf perl pkill ping ps reboot rmmod sar scp shutdown "
    "sqlplus srvctl ss ssh ssh-copy-id strace swapoff sysctl systemctl tar tc tcpdump tfactl timeout tracepath "
    "traceroute vmstat"
)
"""The first words by which a text of racwire counts as a command; some would do harm, and racwire has none of them."""
STAND_INS = {
    "key": "net.core.rmem_max",
}
"""Values of holes that a rule looks at."""
SENTENCE = re.compile(
    r"(cluvfy|crsctl|ethtool|firewall-cmd|iperf3|netplan|oifcfg|ping|srvctl|ssh|systemctl) "
    r"(configures|did|does|has|had|have|is|changes|ended|here|lists?|logins|names?|on|printed|prints|reports?|shows|starts"
    r"|takes|to|tool|packet|warns|writes|getif:|getif printed|500 B|8 KB|\{)"
)
"""Texts that tell of a program."""
BEGINNINGS = (
    *(f"ethtool -{option}" for option in "iaSgGLN"),
    *("ocrconfig -local", "ip link set", "sysctl -p", "sysctl --system"),
)
"""Texts that something is appended to, and names of commands in sentences."""
SECTIONS = ("Findings", "Change", "Commands")


def printed() -> Iterator[tuple[str, str]]:
    """Yield each command in the texts of findings, changes and commands, and in quotes in reasons, with its file."""
    for section, groups in catalogue().items():
        if section.title not in (*SECTIONS, "Reasons and errors"):
            continue
        for file, texts in groups.items():
            module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            names = vars(import_module(module)) if file.endswith(".py") else {}
            for text in texts:
                found = [part for part in re.findall(r"`([^`]+)`", text.text) if " " in part]
                found += [text.text] if section.title in SECTIONS else []
                for command in found:
                    first = command.removeprefix("sudo ").partition(" ")[0].rpartition("/")[2]
                    is_command = first in PROGRAMS.split() and " " in command and command not in BEGINNINGS
                    if is_command and not SENTENCE.match(command):
                        yield file, filled(command, names)


def filled(command: str, names: Mapping[str, object]) -> str:
    """Return the command with a value in each hole."""

    def value(hole: re.Match[str]) -> str:
        known = names.get(hole[1])
        return STAND_INS.get(hole[1], known if isinstance(known, str) else "X")

    return re.sub(r"\{([^{}]*)\}", value, re.sub(r"\{([^{}]*)\}", value, command))


def test_every_command_that_racwire_prints_is_judged() -> None:
    found = list(printed())
    assert len(found) > 300  # else the walk has missed most of them
    assert [one for one in found if effect_of([one[1]]) is Effect.NOT_JUDGED] == []


def test_no_command_that_people_type_to_look_loads_a_module() -> None:
    loading = re.compile(r"(nft|iptables|ip6tables|conntrack) ")
    assert [one for one in printed() if loading.match(one[1])] == []


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        ("ip -s -s link show eth1", False),
        ("ethtool -S eth1 | grep allowance_exceeded", False),
        ("ethtool -g eth1", False),
        ("ethtool -m eth1", True),
        ("ethtool -G eth1 rx 4096", True),
        ("ss -uanm", False),
        ("ss -uanmp", True),
        ("sysctl -a --pattern rp_filter", False),
        ("sysctl -w net.core.rmem_max=1", True),
        ("timeout 30 tcpdump -p -c 50 -s 96 -nei eth1 arp", True),
        ("dmesg -T | grep eth1", True),
        ("systemctl -q is-active firewalld && firewall-cmd --get-active-zones", True),
        ("cat /etc/NetworkManager/system-connections/eth1.nmconnection", True),
        ("nmcli -f GENERAL.CONNECTION,IP4 device show eth1", False),
        ("grep -rs arp_filter /etc/sysctl.conf /etc/sysctl.d", False),
        ("grep -rs 'ip neigh' /etc", True),
        ("crsctl stat res -t -init", False),
        ("racwire check bonding", False),
        ("cat 'open", True),
    ],
)
def test_a_command_needs_root_or_not(command: str, needs: bool) -> None:
    assert need_root([command]) is needs


def test_a_cause_is_examined_as_root_where_a_command_needs_it() -> None:
    assert wrong_users(step for cause in CATALOGUE for step in cause.look) == []


def test_a_cause_asks_for_root_only_for_the_commands_that_need_it() -> None:
    as_root = [step for cause in CATALOGUE for step in cause.look if step.where.startswith("root on ")]
    assert [one for step in as_root for one in step.commands if not need_root([one])] == []


def changes_in_words() -> Iterator[tuple[str, ast.Call]]:
    """Yield each call in the source that makes a change without a command, with its file."""
    for path in sorted((ROOT / "checks").rglob("*.py")):
        for call in ast.walk(source_tree(path)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "NextStep":
                keywords = {keyword.arg for keyword in call.keywords}
                has_commands = "commands" in keywords or len(call.args) > 1
                if "is_change" in keywords and not has_commands:
                    yield f"{path.relative_to(ROOT)}:{call.lineno}", call


def test_a_change_in_words_says_what_it_does_to_a_running_cluster() -> None:
    found = list(changes_in_words())
    assert len(found) > 15
    assert [at for at, call in found if "effect" not in {keyword.arg for keyword in call.keywords}] == []


_STEPS = ("NextStep", "look")


def steps_on_switches() -> Iterator[tuple[str, ast.Call]]:
    """Yield each step of the source with a command of a switch, with its file and line."""
    for path in sorted((ROOT / "checks").rglob("*.py")):
        for call in ast.walk(source_tree(path)):
            is_step = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _STEPS
            if is_step and any(text.startswith("show ") for text in texts_of(call)):
                yield f"{path.relative_to(ROOT)}:{call.lineno}", call


def texts_of(call: ast.Call) -> list[str]:
    return [part.value for part in ast.walk(call) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def test_a_step_with_commands_of_a_switch_says_whose_they_are() -> None:
    """`checks.plugins.shared.switch_steps.on_switches` says it of its own."""
    found = list(steps_on_switches())
    assert found
    assert [at for at, call in found if "Cisco NX-OS" not in " ".join(texts_of(call))] == []


def test_packets_between_nodes_are_not_looked_for_at_the_control_plane_of_a_switch() -> None:
    """It polices what is sent to the switch itself; what passes from port to port is in the data plane."""
    texts = [text.text for groups in catalogue().values() for found in groups.values() for text in found]
    assert [text for text in texts if text.startswith("show ") and "control-plane" in text] == []


def test_only_root_stops_and_starts_clusterware() -> None:
    """`crsctl start crs` and `stop crs` refuse the Grid owner (Clusterware Administration and Deployment Guide)."""
    steps = [
        (f"{path.relative_to(ROOT)}:{call.lineno}", " ".join(texts_of(call)))
        for path in sorted((ROOT / "checks").rglob("*.py"))
        for call in ast.walk(source_tree(path))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _STEPS
    ]
    about = [(at, said) for at, said in steps if re.search(r"(start|stop|restart) Clusterware", said)]
    assert about
    assert [at for at, said in about if "the Grid owner" in said and "root" not in said] == []

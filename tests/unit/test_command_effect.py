"""What commands do to a running cluster, and how a step and a plan show it."""

from __future__ import annotations

import msgspec
import pytest

from checks.change.session.vendors_file import load_kinds
from checks.model.command_effect import effect_of
from checks.model.effect import Effect
from checks.model.finding import Finding, NextStep, Status
from checks.plugins.shared.filter_commands import NFTABLES
from checks.report.folding import alone
from checks.report.html.html_page import to_html
from checks.report.json_report import to_json
from checks.report.junit import to_junit
from checks.report.markdown import to_markdown
from checks.report.report_evidence import Evidence
from tests.fixtures.change_plans import plan_for, to_change
from tests.fixtures.clusters import cluster, node
from tests.fixtures.reports import report_of
from tui.terminal.clipboard import commands_text
from tui.text.finding_lines import STREAM, finding_lines
from tui.text.line import plain


@pytest.mark.parametrize("target", [9000, 1500])
def test_every_command_of_a_plan_is_judged_and_says_what_must_be_down(target: int) -> None:
    nodes = [node(n, 10_500 - target) for n in (1, 2)]
    plan = plan_for(to_change(nodes, mtus=dict.fromkeys(("eth1", "eth2"), 10_500 - target)), target)
    blocks = [block for step in plan.steps for block in step.commands if block.node]
    assert [block.lines for block in blocks if block.effect is Effect.NOT_JUDGED] == []
    (first, *_) = plan.step("set-mtu").commands
    assert first.effect is Effect.CLUSTER_DOWN_FIRST
    assert first.remarks.startswith("Only while Clusterware is down on all nodes.")
    assert {Effect.STOPS, Effect.AT_NEXT_START} <= {block.effect for block in plan.step("stack-down").commands}


def test_every_kind_of_switch_says_what_its_commands_do() -> None:
    kinds = load_kinds()
    assert [key for key, kind in kinds.switches.items() if not kind.scope] == []
    assert [key for key, kind in kinds.hypervisors.items() if not kind.scope] == []


@pytest.mark.parametrize(
    ("effect", "command"),
    [
        (Effect.READS, "ethtool -S eth1 | grep allowance_exceeded"),
        (Effect.READS, "ping -c 3 -M do -s 8972 192.168.10.2"),
        (Effect.READS, "timeout 30 tcpdump -p -c 50 -s 96 -nei eth1 greater 1024"),
        (Effect.READS, "iperf3 -u -c 192.168.10.2 -B 192.168.10.1 --cport 50001 -l 8972 -k 10"),
        (Effect.READS, "ssh rac2 uptime"),
        (Effect.READS, "sysctl -a --pattern rp_filter"),
        (Effect.READS, "grep -q . /proc/net/ip_tables_names && iptables -S"),
        (Effect.READS, "racwire grants --user C##RACWIRE # the script"),
        (Effect.HARMLESS, "sysctl -w net.core.rmem_max=16777216"),
        (Effect.HARMLESS, "ip route change 192.168.10.0/24 dev eth1 metric 101"),
        (Effect.AT_NEXT_START, "printf '%s\\n' '[Link]' MTUBytes=9000 > /etc/systemd/network/a.conf"),
        (Effect.AT_NEXT_START, "nmcli connection modify 'private; reboot' 802-3-ethernet.mtu 9000"),
        (Effect.ADDS_LOAD, "if [ -x /u01/cluvfy ]; then /u01/cluvfy comp nodecon -n all > /tmp/f; fi"),
        (Effect.LOSES_PACKETS, "ip route del 192.168.10.0/24 dev eth1"),
        (Effect.STOPS, "PATH=$PATH:/u01/bin srvctl stop database -d prod -o immediate"),
        (Effect.STOPS, "if ps -e | grep -E 'ora_(a|b)'; then echo up >&2; false; else /u01/bin/crsctl stop crs; fi"),
        (Effect.HARMLESS, "nft list ruleset"),  # the kernel loads a module for it
        (Effect.READS, NFTABLES),
        (Effect.NODE_OUT_FIRST, "ethtool -G eth1 rx 4096"),
        (Effect.NODE_OUT_FIRST, "nmcli connection up eth1"),
        (Effect.NODE_OUT_FIRST, "echo now && sudo ip link set dev eth1 down"),
        (Effect.CLUSTER_DOWN_FIRST, "ssh root@rac2 ip link set dev eth1 mtu 9000"),
    ],
)
def test_a_command_has_its_worst_effect(effect: Effect, command: str) -> None:
    assert effect_of([command]) is effect
    assert effect_of(["cat /etc/fstab", command]) is effect


@pytest.mark.parametrize(
    "command",
    [
        "ping -f 192.168.10.2",
        "ping 192.168.10.2",
        "ping -c 100000 -i 0 192.168.10.2",
        "tcpdump -i eth1",
        "timeout 30 tcpdump -c 50 -s 96 -i eth1",
        "timeout 30 tcpdump -p -c 50 -s 96 -i eth1 -w /tmp/all.pcap",
        "iperf3 -c 192.168.10.2",
        "iperf3 -u -c 192.168.10.2 -t 600",
        "iperf3 -u -c 192.168.10.2 -l 8972 -n 10",
        "iperf3 -u -c 192.168.10.2 -l 8972 -n 10 -k 10",
        "iperf3 -u -c 192.168.10.2 -l 8972 -P 128 -k 10",
        "iperf3 -u -c 192.168.10.2 -l 8972 -k 10G",
        "iptables -S",
        "firewall-cmd --get-active-zones",
        "firewall-cmd --reload",
        "systemctl restart network",
        "sysctl -w net.ipv4.ip_forward=0",
        "sysctl net.ipv4.ip_forward=0",
        "sysctl -p",
        "ip neigh flush all",
        "ip route flush cache",
        "conntrack -F",
        "ss -K dst 192.168.10.2",
        "dmesg -C",
        "echo 3 > /proc/sys/vm/drop_caches",
        "cat /dev/zero > /dev/sda",
        "modprobe sctp",
        "swapoff -a",
        "strace -p 4711",
        "oradebug hanganalyze 3",
        "kill -9 4711",
        "echo 'an open quote",
    ],
)
def test_a_command_without_limits_or_unknown_is_not_judged(command: str) -> None:
    assert effect_of([command]) is Effect.NOT_JUDGED


def test_a_step_shows_what_it_does_where_it_changes_or_disturbs_something() -> None:
    ring = NextStep("Enlarge the ring.", ("ethtool -g eth1", "ethtool -G eth1 rx 4096"), "root on rac2", is_change=True)
    assert ring.effect is Effect.NODE_OUT_FIRST
    assert ring.advice.startswith("Enlarge the ring. The link drops: take the node out of the cluster first")
    assert NextStep("Look.", ("ethtool eth1",)).advice == "Look."
    assert NextStep("Plan it.", is_change=True, effect=Effect.CLUSTER_DOWN_FIRST).advice.endswith("down on all nodes.")
    assert NextStep("Look.", ("acme-tool show",)).advice == f"Look. {Effect.NOT_JUDGED.sentence}"
    assert ring.advice.endswith("First note the present size (`ethtool -g NIC`), for the rollback.")
    assert msgspec.json.decode(msgspec.json.encode(ring), type=NextStep) == ring
    assert msgspec.to_builtins(ring)["effect"] == "node-out-first"


@pytest.mark.parametrize(
    ("command", "noted"),
    [
        ("sysctl -w net.core.rmem_max=16777216", "First note the present value (`sysctl KEY`), for the rollback."),
        ("/u01/grid/bin/oifcfg delif -global eth1", "First note the lines of `oifcfg getif`, for the rollback."),
        ("systemctl disable --now avahi-daemon.socket", "`systemctl enable --now` undoes it."),
        ("racwire change new rp-filter", "The plan has its rollback."),
        ("ip neigh del 192.168.10.2 dev eth1", ""),
        ("ethtool -g eth1", ""),
    ],
)
def test_a_change_says_what_undoes_it(command: str, noted: str) -> None:
    change = NextStep("Do it.", (command,), "root on rac2", is_change=True)
    assert change.caution == f"{change.effect.sentence} {noted}".strip()
    assert noted not in NextStep("Do it.", (command,), "root on rac2").advice or not noted


def test_every_format_shows_the_effect() -> None:
    ring = NextStep("Enlarge the ring.", ("ethtool -G eth1 rx 4096",), "root on rac2", is_change=True)
    finding = Finding(code="X-1", check="x", status=Status.FAIL, title="Bad.", next=(ring,))
    report = msgspec.structs.replace(report_of(cluster(2)), findings=(finding,))
    texts = {
        "text": plain(finding_lines(alone(finding), report, 400, layout=STREAM)),
        "json": to_json(report).decode(),
        "markdown": to_markdown(report).decode(),
        "junit": to_junit(report).decode(),
        "html": to_html(Evidence(report)).decode(),
        "clipboard": commands_text(finding.next),
    }
    lacking = [name for name, text in texts.items() if "The link drops" not in text and "node-out-first" not in text]
    assert lacking == []

"""The program for peers, and the facts from its answer."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import KernelCounters, Unknown
from checks.model.finding import EvidenceRef
from checks.model.journal import Journal
from checks.sources.entries import Program
from checks.sources.kernel_files import PEER
from checks.sources.nodes.remote import parse_node, read_peer
from checks.sources.nodes.shell import Completed, Shell, ShellError

ANSWER = """\
profile noise
##racwire interfaces
2: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0
    inet 192.168.10.2/24 brd 192.168.10.255 scope global eth1
       valid_lft forever preferred_lft forever

##racwire end 0

##racwire speeds
eth1/speed:10000
eth1/duplex:full

##racwire end 2

##racwire routes
192.168.10.0/24 dev eth1 proto kernel scope link src 192.168.10.2

##racwire end 0

##racwire neighbours
ip: netlink says no

##racwire end 2

##racwire counters
Ip: ReasmFails
Ip: 7

##racwire end 0

##racwire sysctls
kernel/osrelease:4.14.35-2047.el7uek.x86_64
net/ipv4/ipfrag_time:30
net/ipv4/conf/all/rp_filter:1
net/ipv4/conf/eth1/rp_filter:2

##racwire end 2
"""


class Answers(Shell):
    """A peer that gives one answer."""

    def __init__(self, text: str) -> None:
        self.node = "rac2"
        self._text = text

    async def run(self, program: Program, *arguments: str, timeout_s: float | None = None) -> Completed:
        assert (program, arguments) == (PEER, ())
        return Completed(0, self._text)


def test_an_old_peer_is_read_as_far_as_it_answers() -> None:
    node = parse_node("rac2", ANSWER)
    (eth1,) = node.interfaces
    assert (node.name, node.read_by, node.kernel_release) == ("rac2", "ssh", "4.14.35-2047.el7uek.x86_64")
    assert (eth1.mtu, eth1.speed_mbps, eth1.duplex) == (9000, 10000, "full")
    assert isinstance(eth1.max_mtu, Unknown)
    assert node.counters == KernelCounters({"Ip": {"ReasmFails": 7}})
    assert node.sysctls["net.ipv4.conf.eth1.rp_filter"] == "2"
    assert isinstance(node.sysctls["net.core.rmem_max"], Unknown)
    reason = "The neighbours of rac2 could not be read: ip: netlink says no (exit status 2)."
    assert node.unread == (Unknown(reason),)


@given(st.text() | st.lists(st.sampled_from(ANSWER.splitlines(keepends=True))).map("".join))
def test_no_answer_makes_the_parser_raise(text: str) -> None:
    parse_node("rac2", text)


@given(st.integers(0, len(ANSWER)))
def test_a_truncated_answer_gives_no_wrong_facts(length: int) -> None:
    whole, torn = parse_node("rac2", ANSWER), parse_node("rac2", ANSWER[:length])
    assert set(torn.routes) <= set(whole.routes)
    assert torn.counters == whole.counters or isinstance(torn.counters, Unknown)


async def test_the_journal_has_each_section_as_received() -> None:
    journal = Journal()
    node = await read_peer(Answers(ANSWER), journal, 5)
    assert node == parse_node("rac2", ANSWER)
    assert [entry.topic for entry in journal.entries] == [
        "interfaces",
        "routes",
        "neighbours",
        "counters",
        "racwires",
        "sysctls",
    ]
    (counters,) = journal.matching([EvidenceRef("rac2", "counters")])
    assert counters.action == "cat /proc/net/snmp /proc/net/netstat"
    assert counters.text == "Ip: ReasmFails\nIp: 7"
    (neighbours,) = journal.matching([EvidenceRef("rac2", "neighbours")])
    assert neighbours.outcome == "exit status 2"


async def test_a_peer_without_ip_is_an_unread_node() -> None:
    journal = Journal()
    answer = "\n##racwire interfaces\nsh: 1: ip: not found\n\n##racwire end 127\n"
    with pytest.raises(ShellError, match=r"rac2 answered, but .*\(sh: 1: ip: not found\).*iproute"):
        await read_peer(Answers(answer), journal, 5)
    assert "iproute" in journal.entries[0].outcome


@pytest.mark.parametrize("shell", ["sh", "dash", "bash --posix", "busybox sh"])
def test_the_program_runs_in_every_sh(shell: str) -> None:
    argv = shell.split()
    if shutil.which(argv[0]) is None or shutil.which("ip", path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
        pytest.skip(f"{argv[0]} or ip is not installed: the peers' program is not tested with it here")
    done = subprocess.run(
        ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", *argv],
        input=PEER.text,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    node = parse_node("here", done.stdout)
    assert done.stderr == ""
    assert node.kernel_release
    assert any(interface.kind == "loopback" for interface in node.interfaces)
    assert isinstance(node.counters, KernelCounters)
    assert node.counters.value("Udp", "RcvbufErrors") is not None
    assert not isinstance(node.sysctls["net.ipv4.ipfrag_high_thresh"], Unknown)
    assert not isinstance(node.sysctls["net.ipv4.conf.lo.rp_filter"], Unknown)
    assert node.unread == ()

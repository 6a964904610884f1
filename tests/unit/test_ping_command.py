"""DF pings with the system's ping: its capabilities, its arguments, and the limits of its runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence

import pytest

from checks.model.facts import Port, PrivateNetwork
from checks.model.settings import ProbeSettings
from checks.sources.nodes.shell import Completed, Shell, ShellError
from checks.sources.probes import limits, ping_command
from checks.sources.probes.limits import BudgetSpentError, GentlePace, PacketPace, PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.ping_command import CommandPinger, PingTool, Slots, read_ping_tool
from checks.sources.probes.pinger import CannotPingError, Request

HERE, THERE = Port("rac1", "eth2", "192.168.11.1"), Port("rac2", "eth2", "192.168.11.2")
PATH = Path(PrivateNetwork("n", "eth2", "192.168.11.0/24", "oifcfg", (HERE, THERE), 9000), HERE, THERE, 9000)
MODERN = PingTool(release=20221126, can_probe=False, can_time_out=True)
OF_2016 = PingTool(release=20160308, can_probe=False, can_time_out=True)

GOOD = "PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data."


class FakeShell(Shell):
    """Answers each ping by a rule, and records the requests."""

    def __init__(self, answer: Callable[[list[str]], str | Exception | None], takes_s: float = 0.001) -> None:
        self.takes_s = takes_s
        self.node = "rac1"
        self.answer = answer
        self.commands: list[list[str]] = []
        self.running = self.most_running = 0

    def start(self, command: Sequence[str]) -> asyncio.Future[Completed]:
        self.commands.append(list(command))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        return asyncio.ensure_future(self._run(list(command)))

    async def _run(self, command: list[str]) -> Completed:
        try:
            await asyncio.sleep(self.takes_s)
            text = self.answer(command)
            if text is None:
                await asyncio.sleep(60)
            if isinstance(text, Exception):
                raise text
            return Completed(0, text or "")
        finally:
            self.running -= 1


def option(command: list[str], name: str) -> str:
    words = command[command.index("ping") :]
    return words[words.index(name) + 1]


def all_answered(command: list[str]) -> str:
    count, size = int(option(command, "-c")), int(option(command, "-s"))
    replies = "".join(
        f"{size + 8} bytes from 192.168.11.2: icmp_seq={i} ttl=64 time=0.05 ms\n" for i in range(1, count + 1)
    )
    return f"PING 192.168.11.2\n{replies}\n{count} packets transmitted, {count} received, 0% packet loss\n"


def none_answered(command: list[str]) -> str:
    return f"PING 192.168.11.2\n\n{option(command, '-c')} packets transmitted, 0 received, 100% packet loss\n"


def pinger(shell: Shell, tool: PingTool = MODERN, **settings: int) -> CommandPinger:
    own = PathLimits(ProbeSettings(**settings))
    return CommandPinger(PATH, own, PacketPace(100_000), shell=shell, tool=tool, slots=Slots())


async def test_a_series_is_combined_from_several_runs() -> None:
    shell = FakeShell(all_answered)
    sender = pinger(shell)
    (series,) = await sender.ping([Request(8972, 20)], timeout_s=0.3)
    assert (series.sent, series.received, series.ttl) == (20, 20, 64)
    assert sorted(option(c, "-c") for c in shell.commands) == ["2", *["3"] * 6]
    assert " ".join(shell.commands[0]) == (
        "env LC_ALL=C timeout -s INT 1.5 ping -n -M do -s 8972 -c 3 -l 3 -i 0.2 -W 0.5 -I 192.168.11.1 192.168.11.2"
    )


async def test_answered_pings_run_one_after_the_other() -> None:
    shell = FakeShell(all_answered)
    await pinger(shell).ping([Request(56, 20), Request(1472, 20), Request(4000, 20)], timeout_s=0.3)
    assert shell.most_running == 1


async def test_pings_without_answers_allow_others_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slots, "ALONE_S", 0.005)
    shell = FakeShell(none_answered, takes_s=0.2)
    (series,) = await pinger(shell).ping([Request(56, 20)], timeout_s=0.3)
    assert (series.sent, series.received) == (20, 0)
    assert shell.most_running == 6, "all but the first, which showed that nothing answers"


async def test_large_pings_to_a_node_to_which_one_was_lost_are_spread_out(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        if seconds > GentlePace.AT_ONCE / GentlePace.BYTES_PER_S - 0.01 and seconds < 30:
            waits.append(seconds)
        await sleep(0 if seconds < 30 else seconds)

    shell = FakeShell(none_answered)
    sender = pinger(shell)
    monkeypatch.setattr(asyncio, "sleep", note)
    (series,) = await sender.ping([Request(8972, 20)], timeout_s=0.3)
    assert series.sent == 20
    assert [option(c, "-c") for c in shell.commands] == ["3", *["1"] * 17]
    assert len(waits) >= 15, "one packet of 9000 bytes each 50 ms"


async def test_small_pings_and_those_to_a_node_to_which_none_was_lost_are_not_spread_out() -> None:
    receiver = GentlePace()
    await receiver.take(10**9)
    shell = FakeShell(none_answered)
    sender = pinger(shell)
    await sender.ping([Request(56, 20)], timeout_s=0.3)
    assert len(shell.commands) == 7


async def test_who_keeps_the_lock_of_pings_is_named_after_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PING_LOCK", f"\0racwire-pings-test-{os.getpid()}")
    async with limits.turn_to_ping(0) as holder:
        assert holder == 0
        async with limits.turn_to_ping(0.2) as other:
            assert other == os.getpid()
    async with limits.turn_to_ping(0) as holder:
        assert holder == 0, "the lock is free again"


async def test_a_refused_size_is_not_retried() -> None:
    refused = "PING 192.168.11.2\nping: local error: message too long, mtu=1500\n3 packets transmitted, 0 received\n"
    shell = FakeShell(lambda _: refused)
    (series,) = await pinger(shell).ping([Request(8972, 20)], timeout_s=0.3)
    assert (series.refused_locally, series.local_mtu) == (1, 1500)
    assert len(shell.commands) == 1


def test_an_old_ping_waits_whole_seconds() -> None:
    """This ping would read 0.3 as 0, and report each packet as lost."""
    assert option(OF_2016.command(PATH, Request(56, 3), 0.3), "-W") == "1"


@pytest.mark.parametrize("hurry", [False, True])
async def test_a_ping_that_does_not_end_is_not_counted_as_loss(hurry: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a search either: a busy node starts 24 pings late, and the largest packet then came out too small."""
    monkeypatch.setattr(ping_command, "GIVE_UP_S", 0.01)
    monkeypatch.setattr(ping_command, "LEAST_WAIT_S", 0.01)
    with pytest.raises(CannotPingError, match="did not end"):
        await pinger(FakeShell(lambda _: None)).ping([Request(56, 1)], timeout_s=0.05, hurry=hurry)


def test_a_modern_ping_waits_long_enough_for_a_busy_node() -> None:
    assert option(MODERN.command(PATH, Request(56, 3), 0.05), "-W") == "0.5"


async def test_a_lost_shell_is_reported() -> None:
    with pytest.raises(ShellError, match="gone"):
        await pinger(FakeShell(lambda _: ShellError("gone"))).ping([Request(56, 20)], timeout_s=0.05)


async def test_the_limit_is_checked_before_anything_is_sent() -> None:
    shell = FakeShell(all_answered)
    sender = pinger(shell, max_packets_per_path=50)
    with pytest.raises(BudgetSpentError, match="max_packets_per_path"):
        await sender.ping([Request(56, 30), Request(1472, 21)], timeout_s=0.05)
    assert shell.commands == []


async def test_lost_packets_stay_in_flight_until_their_ping_ends() -> None:
    shell = FakeShell(none_answered)
    sender = pinger(shell, max_bytes_in_flight=20_000)
    await sender.ping([Request(8972, 6)], timeout_s=0.05, hurry=True)
    assert {option(c, "-c") for c in shell.commands} == {"2"}
    assert shell.most_running == 1


def test_the_options_of_a_modern_ping_are_recognized() -> None:
    text = f"ping from iputils 20240117\nplain: {GOOD}\ndont-fragment: {GOOD}\nprobe: {GOOD}\ntimeout: yes\n"
    assert read_ping_tool(text, "rac2") == PingTool(20240117, can_probe=True, can_time_out=True)


def test_the_options_of_the_ping_of_enterprise_linux_7_are_recognized() -> None:
    text = (
        "ping utility, iputils-s20160308\n"
        f"plain: {GOOD}\ndont-fragment: {GOOD}\nprobe: ping: wrong value for -M: do, dont, want are valid ones.\n"
        "timeout: yes\n"
    )
    assert read_ping_tool(text, "rac2") == OF_2016


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BusyBox v1.35.0 multi-call binary.\nplain: PING 127.0.0.1\n", "BusyBox"),
        ("sh: ping: not found\nplain: sh: ping: not found\n", "not found"),
        ("ping from iputils 20221126\nplain: ping: socket: Operation not permitted\n", "does not work"),
        (f"ping\nplain: {GOOD}\ndont-fragment: ping: invalid option -- 'M'\n", "-M do"),
        ("", "printed nothing"),
    ],
)
def test_an_unsuitable_ping_is_rejected_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(CannotPingError, match=message):
        read_ping_tool(text, "rac2")


def test_on_ipv6_old_systems_use_another_program() -> None:
    one, two = Port("rac1", "eth2", "fd00::1"), Port("rac2", "eth2", "fd00::2")
    six = Path(PrivateNetwork("n", "eth2", "fd00::/64", "oifcfg", (one, two), 9000), one, two, 9000)
    assert MODERN.command(six, Request(8952, 1), 0.3)[:2] == ["ping", "-6"]
    assert PingTool(20150101, can_probe=False, can_time_out=True).command(six, Request(8952, 1), 0.3)[0] == "ping6"


def test_where_two_networks_share_a_subnet_the_interface_is_given() -> None:
    shared = Path(PATH.network, HERE, THERE, 9000, subnet_is_shared=True)
    words = MODERN.command(shared, Request(56, 1), 0.3)
    assert words[-5:] == ["-I", "eth2", "-I", "192.168.11.1", "192.168.11.2"]

"""Small datagrams where full-size ones pass: how they are sent and counted, and what their loss shows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace

import msgspec
import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.facts import FlowPort, FlowProbe, Flows, SmallDatagrams, Unknown
from checks.model.finding import Finding, Status
from checks.model.hypothesis import Certainty
from checks.plugins.df_ping import df_ping
from checks.plugins.udp_path import udp_path
from checks.sources.probes import small_datagrams
from checks.sources.probes.small_datagrams import MOST_ROWS, SMALL_ROW, SmallSenders, SmallWay
from checks.sources.probes.udp_plan import UdpEnds
from tests.fixtures.clusters import cluster, path, with_paths
from tests.unit.test_check_udp_path import flows, probe
from tests.unit.test_udp_flows import path as path_of_datagrams

FINE = [FlowPort(40000 + n, 8972, answered=1) for n in range(11)]
PORTS = tuple(range(40000, 40006))


class Target:
    """Nodes that count what arrives; the datagrams of some paths do not, and others may send meanwhile."""

    def __init__(self, *, lost: Sequence[int] = (), of_others: int = 0, waited: str = "", error: str = "") -> None:
        self.lost, self.of_others, self.waited, self.error = lost, of_others, waited, error
        self.number, self.rows = 0, list[int]()

    async def ends(self) -> dict[str, UdpEnds]:
        self.number += self.of_others
        return {n: UdpEnds("python3", 9000, frozenset(), True, self.number) for n in ("rac1", "rac2")}

    async def sent(self, _: object, __: object, node: str, python: str, words: Sequence[str]) -> tuple[str, str]:
        lines = [self.waited]
        for number, one in enumerate(words[1:]):
            datagrams = one.split(",")[3].split("/")
            self.rows.append(len(datagrams))
            for datagram in datagrams:
                _, slot, port, size, how = datagram.split(":")
                assert (size, how) == ("200", "2")
                lines.append(f"{number} {slot} {port} {size} {self.error or 'sent'} -")
            is_lost = (number if len(words) > 2 else len(self.rows)) in self.lost or self.error
            self.number += 0 if is_lost else len(datagrams)
        return "\n".join(lines), ""


def count(target: Target, monkeypatch: pytest.MonkeyPatch, paths: int = 1) -> list[SmallDatagrams | Unknown]:
    monkeypatch.setattr(small_datagrams, "sent", target.sent)
    made = path_of_datagrams()

    async def run() -> list[SmallDatagrams | Unknown]:
        before = await target.ends()
        senders = SmallSenders(SimpleNamespace(), {"rac1": SimpleNamespace()}, target.ends, before)  # type: ignore[arg-type,dict-item]
        port = small_datagrams.closed_port(before["rac2"])
        assert isinstance(port, int)
        return await senders.count([SmallWay(made, port, PORTS) for _ in range(paths)])

    return asyncio.run(run())


def test_where_all_arrive_a_path_sends_one_from_each_of_its_source_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target()
    assert count(target, monkeypatch) == [SmallDatagrams(200, PORTS, 6, 6)]
    assert target.rows == [6]


def test_where_some_are_missing_each_path_to_the_target_sends_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first row of both paths together misses those of the second one; the fourth row is its own.
    target = Target(lost=(1, 4))
    assert [one.counted for one in count(target, monkeypatch, 2) if isinstance(one, SmallDatagrams)] == [SMALL_ROW, 0]
    assert target.rows == [6, 6, SMALL_ROW, SMALL_ROW]


def test_the_paths_that_are_counted_by_themselves_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target(lost=(1,))
    found = count(target, monkeypatch, MOST_ROWS + 2)
    assert target.rows.count(SMALL_ROW) == MOST_ROWS
    assert [isinstance(one, Unknown) for one in found].count(True) == 2


@pytest.mark.parametrize(
    "disturbed", [Target(of_others=1), Target(waited="waited 77 900 held"), Target(waited="waited 77 900 ended")]
)
def test_what_others_may_have_sent_is_no_count(disturbed: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = count(disturbed, monkeypatch)
    assert isinstance(found, Unknown)


def test_what_the_own_kernel_refuses_has_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert count(Target(error="unsent:EPERM"), monkeypatch) == [SmallDatagrams(200, PORTS, 0, 0, "EPERM")]


# --- what it shows ----------------------------------------------------------------------------------------------------

ALL = SmallDatagrams(200, PORTS, 6, 6)
NONE = SmallDatagrams(200, PORTS, SMALL_ROW, 0)


def judged(
    there: SmallDatagrams | Unknown | None, back: SmallDatagrams | Unknown | None = ALL
) -> tuple[dict[str, Finding], list[str]]:
    """The findings of udp-path by code, and the causes of the first entry."""
    probes = [probe(*FINE, small=there), probe(*FINE, to="rac1", small=back)]
    eth2 = next(n for n in cluster().networks if n.interface == "eth2")
    pinged = [path(eth2, a, b) for a, b in (("rac1", "rac2"), ("rac2", "rac1"))]
    known = msgspec.structs.replace(with_paths(cluster(), *pinged), flows=flows(*probes))
    findings = list(udp_path.run(known))
    said = diagnose(known, [*df_ping.run(known), *findings])
    entries = [h.cause for h in said.with_standing(Certainty.PROVED, Certainty.SUPPORTED) if h.entry == 1]
    return {f.code: f for f in findings}, entries


@pytest.mark.parametrize("small", [ALL, None, Unknown("rac1 sent none")])
def test_no_fault_is_made_of_what_arrived_or_was_not_examined(small: SmallDatagrams | Unknown | None) -> None:
    found, causes = judged(small)
    assert (set(found), causes) == ({"IC-FLOW-001"}, [])
    assert isinstance(small, Unknown) is any("not examined: rac1 sent none" in s for s in found["IC-FLOW-001"].seen)


def test_small_datagrams_that_vanish_are_a_filter_and_no_policer() -> None:
    found, causes = judged(NONE)
    assert (found["IC-FLOW-016"].status, causes[:1]) == (Status.FAIL, ["CAUSE-08"])
    assert "CAUSE-73" not in causes
    title = "UDP packets of 228 bytes vanish on 192.168.11.0/24 from rac1 to rac2; those of 9,000 bytes pass."
    assert found["IC-FLOW-016"].title == title


def test_a_share_of_small_datagrams_leaves_a_limit_among_the_causes() -> None:
    found, causes = judged(SmallDatagrams(200, PORTS, SMALL_ROW, 9))
    assert found["IC-FLOW-017"].title.startswith("9 of 18 UDP packets of 228 bytes are lost on ")
    assert "CAUSE-73" in causes
    assert "CAUSE-08" not in causes


def test_a_refusal_of_the_own_kernel_is_a_filter_of_the_sender() -> None:
    found, causes = judged(SmallDatagrams(200, PORTS, 0, 0, "EPERM"))
    assert causes[:1] == ["CAUSE-08"]
    assert found["IC-FLOW-016"].next[0].where == "root on rac1"


def test_flows_of_an_earlier_release_have_no_small_datagrams() -> None:
    old = msgspec.json.decode(msgspec.json.encode(Flows((probe(*FINE),))), type=Flows)
    assert isinstance(old.probes[0], FlowProbe)
    assert old.probes[0].small is None

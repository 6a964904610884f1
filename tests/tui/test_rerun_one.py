"""The key R: run only the selected finding's check again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import Cluster
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.sources.nodes.session import Session
from tests.fixtures.clusters import cluster, node, with_interface
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import chosen, concluded, listed, shown, write


def engine_for(facts: Cluster, check: Sequence[str], **instead: object) -> Engine:
    return engine(facts, tuple(c for c in discover() if not check or c.id in check), **instead)  # type: ignore[arg-type]


async def test_the_findings_of_the_check_are_replaced_and_everything_else_stays(new_console: NewConsole) -> None:
    wanted: list[str] = []

    def fixed(check: Sequence[str]) -> Engine:
        wanted.extend(check)
        return engine_for(healthy(), check)

    async with new_console(lambda: engine(black_hole()), fixed).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        before = listed(pilot)
        await pilot.press("R")
        await concluded(pilot)
        assert wanted == ["df-ping"]
        after = listed(pilot)
        assert [row for row in after if row.startswith("-F ▸ Jumbo")]
        assert not [row for row in after if row.startswith(" F df-ping")]
        assert {row for row in before if "df-ping" not in row and "▸" not in row} <= set(after)
        assert chosen(pilot) == "IC-PATH-003"
        assert "df-ping again 14:02:31" in shown(pilot, "lower-rule")
        assert "rac3!" not in shown(pilot, "header")


async def test_new_findings_are_marked_new_and_not_a_second_time(new_console: NewConsole) -> None:
    worse = cluster([node(1), node(2), with_interface(node(3), "eth1", mtu=1500)])
    app = new_console(lambda: engine(healthy()), lambda check: engine_for(worse, check))
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("slash", *"mtu-c", "enter", "R")
        await concluded(pilot)
        assert listed(pilot)[0].startswith("+F mtu-consistency")
        await pilot.press("R")
        await concluded(pilot)
        assert listed(pilot)[0].startswith(" F mtu-consistency")


async def test_until_the_check_concludes_its_earlier_findings_stay_visible(new_console: NewConsole) -> None:
    gate = asyncio.Event()

    async def paths(session: Session, known: Cluster) -> object:
        await gate.wait()
        return healthy().paths

    app = new_console(lambda: engine(black_hole()), lambda check: engine_for(healthy(), check, paths=paths))
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("R")
        assert chosen(pilot) == "IC-PATH-003"
        assert "1 FAIL" in shown(pilot, "counts")
        await pilot.press("r")
        gate.set()
        await concluded(pilot)
        assert [row for row in listed(pilot) if row.startswith("-F ▸ Jumbo")]


async def test_if_the_check_fails_the_earlier_findings_stay(new_console: NewConsole) -> None:
    def broken(check: Sequence[str]) -> Engine:
        raise RuntimeError("the wheels came off")

    async with new_console(lambda: engine(black_hole()), broken).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        before = listed(pilot)
        await pilot.press("R")
        await concluded(pilot)
        assert listed(pilot) == before
        assert "the wheels came off" in shown(pilot, "lower-rule")


async def test_during_the_first_run_a_rerun_is_refused(new_console: NewConsole) -> None:
    gate = asyncio.Event()

    reached = asyncio.Event()

    async def paths(session: Session, known: Cluster) -> object:
        reached.set()
        await gate.wait()
        return healthy().paths

    async with new_console(lambda: engine(healthy(), paths=paths)).run_test(size=(120, 40)) as pilot:
        await reached.wait()
        await pilot.press("R")
        await pilot.pause()
        assert "after all checks have concluded" in shown(pilot, "lower-rule")
        gate.set()
        await concluded(pilot)
        await pilot.press("G", "up", "right")
        assert "P df-ping" in "\n".join(listed(pilot))


async def test_the_exported_report_contains_both_runs_and_says_so(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = new_console(lambda: engine(black_hole()), lambda check: engine_for(healthy(), check))
    async with app.run_test() as pilot:
        await concluded(pilot)
        findings = app.report.findings if app.report else ()
        await pilot.press("R")
        await concluded(pilot)
        await pilot.press("e")
        document = msgspec.json.decode((await write(pilot, "json")).read_bytes())
        assert [again["check"] for again in document["reruns"]] == ["df-ping"]
        assert {f["check"] for f in document["findings"]} == {f.check for f in findings}
        assert app.report is not None
        assert not [f for f in app.report.findings if f.code == "IC-PATH-003"]

"""The page of guided troubleshooting: what is asked and why, answers of people and of racwire, the end."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from checks.model.investigation import End, StepSaid
from checks.model.signs import Sign
from tests.tui.clusters import UNCHANGING, engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.investigate_driving import PaperMaker, PaperSessions
from tui.console.app import ConsoleApp
from tui.screens.investigate.paste import PasteScreen
from tui.screens.investigate.screen import InvestigateScreen

MTU = f"switch# show interface\n{Sign.PORT_MTU.value}\n"
NOTHING = "switch# show interface\n"


@asynccontextmanager
async def investigating(
    new_console: NewConsole, sessions: PaperSessions, size: tuple[int, int] = (80, 24)
) -> AsyncGenerator[Pilot[None], None]:
    """A console with the page of guided troubleshooting about a black hole."""
    app = new_console(lambda: engine(healthy(), UNCHANGING), sessions=sessions)
    async with app.run_test(size=size) as pilot:
        await concluded(pilot)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, InvestigateScreen) and "Next" in shown(pilot, "step"))
        yield pilot


async def paste(pilot: Pilot[None], text: str) -> None:
    """Paste an output on the page for it, as the terminal does, and end it."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PasteScreen))
    pilot.app.post_message(events.Paste(text))
    await until(pilot, lambda: text.strip() in pilot.app.screen.query_one(TextArea).text)
    await pilot.press("ctrl+d")
    await pilot.pause()


async def consent(pilot: Pilot[None]) -> None:
    """Make the selected step for the first time, and agree to what is sent."""
    await pilot.press("enter")
    await pilot.press("y", "enter")
    await pilot.pause()


def step(pilot: Pilot[None]) -> str:
    return " ".join(shown(pilot, "step").split())


async def test_the_page_shows_what_is_left_and_the_best_step_with_its_reason(new_console: NewConsole) -> None:
    async with investigating(new_console, PaperSessions(PaperMaker())) as pilot:
        assert "at rac1: a small MTU of the switch port" in " ".join(shown(pilot, "suspects").split())
        assert "none of the causes that racwire knows" in " ".join(shown(pilot, "suspects").split())
        assert "Shows whether it is a small MTU of the switch port at rac1." in step(pilot)
        assert "The network team runs it on the switch" in step(pilot)
        keys = shown(pilot, "keys")
        assert all(f"{key} {word}" in keys for key, word in (("s", "skip"), ("n", "not possible"), ("u", "undo")))


async def test_nothing_is_sent_before_the_consent(new_console: NewConsole) -> None:
    maker = PaperMaker()
    async with investigating(new_console, PaperSessions(maker)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert "20,000" in shown(pilot, "page")
        assert "racwire plan investigate" in shown(pilot, "page")
        await pilot.press("n", "enter")
        assert "Type y to send" in shown(pilot, "ask-rule")
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, InvestigateScreen)
        assert maker.made == []


async def test_a_port_that_is_read_twice_proves_the_cause_and_the_session_ends(new_console: NewConsole) -> None:
    maker = PaperMaker()
    sessions = PaperSessions(maker)
    async with investigating(new_console, sessions) as pilot:
        await consent(pilot)
        await paste(pilot, NOTHING)
        await paste(pilot, MTU)
        await until(pilot, lambda: "Result" in step(pilot))
        assert "seen" in step(pilot).lower()
        answer = sessions.kept[-1].answers[0]
        assert answer.said is StepSaid.DONE
        assert len(answer.pasted) == 2
        assert len(maker.made) == 1, "racwire sends once, between the two readings"


async def test_the_last_step_ends_the_session_and_verify_runs_the_checks_again(new_console: NewConsole) -> None:
    sessions = PaperSessions(PaperMaker())
    async with investigating(new_console, sessions) as pilot:
        while sessions.kept[-1].is_ended is False:
            kept = len(sessions.kept)
            await pilot.press("n")
            await until(pilot, lambda kept=kept: len(sessions.kept) > kept)  # type: ignore[misc]
        await until(pilot, lambda: "v verify" in shown(pilot, "keys"))
        assert sessions.kept[-1].endings[0].end is End.APART
        assert "No step from here can tell these apart" in step(pilot)
        assert "a small MTU of the switch port" in " ".join(shown(pilot, "suspects").split())
        await pilot.press("u")
        await until(pilot, lambda: "Next" in shown(pilot, "step"))
        assert sessions.kept[-1].endings == ()


async def test_a_step_that_racwire_makes_is_stopped_and_gives_no_answer(new_console: NewConsole) -> None:
    maker = PaperMaker()
    maker.gate.clear()
    sessions = PaperSessions(maker)
    async with investigating(new_console, sessions) as pilot:
        await consent(pilot)
        await paste(pilot, NOTHING)
        await until(pilot, lambda: "SENDING" in shown(pilot, "lower-rule"))
        assert "s stop" in shown(pilot, "keys")
        await pilot.press("s")
        await until(pilot, lambda: "nothing is sent any more" in shown(pilot, "lower-rule"))
        assert sessions.kept[-1].answers == ()
        assert "Enter do it" in shown(pilot, "keys")


async def test_quitting_while_racwire_sends_takes_less_than_a_second(new_console: NewConsole) -> None:
    maker = PaperMaker()
    maker.gate.clear()
    async with investigating(new_console, PaperSessions(maker)) as pilot:
        await consent(pilot)
        await paste(pilot, NOTHING)
        await until(pilot, lambda: "SENDING" in shown(pilot, "lower-rule"))
        app = pilot.app
        assert isinstance(app, ConsoleApp)
        started = time.monotonic()
        await app.action_quit()
        assert time.monotonic() - started < 1
        assert maker.is_closed


async def test_an_output_comes_from_a_file_that_is_named(new_console: NewConsole, tmp_path: Path) -> None:
    (tmp_path / "show.txt").write_text(NOTHING)
    sessions = PaperSessions(PaperMaker())
    async with investigating(new_console, sessions) as pilot:
        await consent(pilot)
        await paste(pilot, f"{tmp_path}/none.txt")
        assert "could not be read" in shown(pilot, "paste-rule")
        pilot.app.screen.query_one(TextArea).text = f"{tmp_path}/show.txt"
        await pilot.press("ctrl+d")
        await paste(pilot, NOTHING)
        await until(pilot, lambda: bool(sessions.kept[-1].answers))
        assert sessions.kept[-1].answers[0].pasted == (NOTHING, NOTHING)


async def test_letters_that_are_typed_on_the_page_for_an_output_are_no_commands(new_console: NewConsole) -> None:
    async with investigating(new_console, PaperSessions(PaperMaker())) as pilot:
        await consent(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, PasteScreen))
        await pilot.press("q", "1", "i")
        assert pilot.app.screen.query_one(TextArea).text == "q1i"
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, InvestigateScreen)

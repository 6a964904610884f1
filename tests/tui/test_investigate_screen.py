"""The page of guided troubleshooting: what is asked and why, answers of people and of racwire, the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from checks.model.investigation import Said
from checks.model.signs import Sign
from tests.tui.clusters import UNCHANGING, engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.investigate_driving import PaperMaker, PaperSessions
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
        assert answer.said is Said.DONE
        assert len(answer.pasted) == 2
        assert len(maker.made) == 1, "racwire sends once, between the two readings"

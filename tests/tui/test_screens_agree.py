"""Agreement on the screens: at moments of generated timelines the console itself shows nothing that the judge of
`tests/agreement` refutes. The test opens the first rows of the lists: what it does not open is not missing."""

from __future__ import annotations

import io
from random import Random

import pytest
from textual.pilot import Pilot

from tests.agreement.judge import judge
from tests.agreement.places import Texts
from tests.agreement.timeline import Timeline
from tests.agreement.truth import END
from tests.tui.clusters import engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown
from tui.cli.text_report import text_report
from tui.console.app import ConsoleApp
from tui.console.app_state import News
from tui.console.change_state import ChangeState
from tui.console.situation_state import SituationState
from tui.screens.checks.finding_list import FindingList
from tui.widgets.choice_list import ChoiceList

COUNT = 50
_MOMENTS, _ROWS = 2, 6
_OF_ALL_ROWS = ("denied:", "agreement: the head of the export")


@pytest.fixture(params=range(COUNT))
def drawn(request: pytest.FixtureRequest) -> Timeline:
    """A timeline; it runs an event loop of its own."""
    return Timeline(request.param)


@pytest.mark.beyond_sample
async def test_the_screens_agree(new_console: NewConsole, monkeypatch: pytest.MonkeyPatch, drawn: Timeline) -> None:
    app = new_console(lambda: engine(healthy()))
    monkeypatch.setattr(app, "_look_for_events", lambda: None)
    async with app.run_test(size=(200, 60)) as pilot:
        await concluded(pilot)
        for t, known in drawn.live(sorted(Random(drawn.truth.seed + 9).sample(range(65, END), _MOMENTS))):
            monkeypatch.setattr(SituationState, "_of_change", lambda _, __, of=known: (of.stops, of.looks))
            monkeypatch.setattr(ChangeState, "place", property(lambda _, of=known: of.change))
            app.state.events.load(drawn.watched(), known.now, "")
            app.state.run.show((known.history,), is_judged=True)
            app.state.go_to(known.now)
            app._show_news(News.RUN)
            texts = await _texts(pilot)
            found = [what for what in judge(drawn, t, texts, known.events) if not what.startswith(_OF_ALL_ROWS)]
            assert not [what for what in found if not what.endswith("no row is about it")], (t, texts)


async def _texts(pilot: Pilot[None]) -> Texts:
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    assert app.state.reported is not None
    texts: Texts = {"paths": [], "event line": []}
    texts["export"] = [text_report(app.state.reported, io.StringIO(), full=True)]
    await pilot.press("6")
    texts["report"] = [shown(pilot, "report-says")]
    await pilot.press("1", "home")
    texts["first line"] = [shown(pilot, "header")]
    texts["checks"] = [shown(pilot, "counts")]
    for _ in range(_ROWS):
        rows = app.screen.query_one("#list", FindingList)
        lines = rows.text.splitlines()[rows._lines_of[rows._index] :][: rows._heights[rows._index]]
        texts["checks"].append("\n".join((*lines, shown(pilot, "finding"))))
        await pilot.press("down")
    await pilot.press("exclamation_mark", "home")
    texts["events"] = []
    for _ in app.state.situation.episodes[:_ROWS]:
        choices = app.screen.query_one("#events-list", ChoiceList)
        texts["events"].append(f"{choices.text.splitlines()[choices.chosen]}\n{shown(pilot, 'events-foot')}")
        await pilot.press("down")
    return texts

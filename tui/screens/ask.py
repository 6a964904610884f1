"""A question for the operator: a page to read, and a few input fields below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tui.screens.styled import StyledScreen
from tui.text.line import Line, cut, sanitize_line
from tui.widgets.bars import lines_below, rule_line
from tui.widgets.lines import Lines

Answer = tuple[str, ...]
_LONGEST = 500
"""Most characters of an answer: a longer text is a document, not a reason."""


@dataclass(frozen=True)
class Field:
    """An input field of one line."""

    name: str
    value: str = ""
    hint: str = ""
    wrong: Callable[[str], str] = lambda text: ""
    """Returns why a text is not valid; empty where it is."""


@dataclass(frozen=True)
class AskPage:
    """A page to read, and the input fields below it."""

    title: str
    page: Callable[[int], Iterable[Line]]
    fields: tuple[Field, ...]
    does: str
    """What Enter does on the last field, in a word for the keys."""


class _OneLine(Input):
    """An input of one line. A pasted text is sanitized and cut to the room there is; `Overfull` reports a cut."""

    def on_paste(self, event: events.Paste) -> None:
        """Insert a text that the terminal pastes."""
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        """Insert the text that was copied within racwire."""
        self._take(self.app.clipboard)

    def _take(self, text: str) -> None:
        text = sanitize_line(text)
        start, end = sorted(self.selection)
        room = max(_LONGEST - len(self.value) + end - start, 0)
        self.replace(text[:room], start, end)
        if len(text) > room:
            self.post_message(self.Overfull(self))

    class Overfull(Message):
        """A pasted text was cut off."""

        def __init__(self, line: Input) -> None:
            super().__init__()
            self.line = line

        @property
        def control(self) -> Input:
            """The input line."""
            return self.line


class AskScreen(StyledScreen[Answer | None]):
    """A question; dismissed with the text of each field, or with None where the operator cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p,ctrl+c,ctrl+q", "leave", show=False, priority=True),
        Binding("enter", "go_on", show=False, priority=True),
        Binding("up,shift+tab", "field(-1)", show=False, priority=True),
        Binding("down,tab", "field(1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
    ]
    AUTO_FOCUS = "Input"

    def __init__(self, question: AskPage) -> None:
        super().__init__()
        self._question = question
        self._problem = ""
        self._judged = ""
        """The text that the message is about."""

    def compose(self) -> ComposeResult:
        """Yield the page, the fields, and the keys."""
        question = self._question
        yield Lines(lambda width: [[(cut(f" {question.title}", width), "title")]], classes="bar")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(lambda width: list(question.page(width)), id="page")
        yield Lines(self._rule, id="ask-rule", classes="bar")
        for number, field in enumerate(question.fields):
            with Horizontal(classes="field"):
                yield Lines(lambda width, name=field.name: [[(name, "label")]], classes="field-name")  # type: ignore[misc]
                typed = _OneLine(
                    sanitize_line(field.value),
                    id=f"field-{number}",
                    placeholder=field.hint,
                    compact=True,
                    max_length=_LONGEST,
                )
                typed.cursor_blink = False
                yield typed
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(self._keys, classes="bar")

    @property
    def _inputs(self) -> list[Input]:
        return list(self.query(Input))

    @property
    def _at(self) -> int:
        """The number of the focused field."""
        return next((n for n, typed in enumerate(self._inputs) if typed is self.focused), 0)

    def _rule(self, width: int) -> list[Line]:
        below = self.query_one("#page", Lines).below
        return [rule_line(width, self._problem, lines_below(below))]

    def _keys(self, width: int) -> list[Line]:
        keys = [("Enter", f"next field, then {self._question.does}"), ("Esc", "cancel")]
        if len(self._question.fields) == 1:
            keys[0] = ("Enter", self._question.does)
        else:
            keys.insert(1, ("↑ ↓", "other field"))
        return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]

    def action_go_on(self) -> None:
        """Go to the next field; from the last one, dismiss the question if every answer is valid."""
        inputs = self._inputs
        at = self._at
        answers = tuple(typed.value.strip() for typed in inputs)
        for number, field in enumerate(self._question.fields[: at + 1]):
            if problem := field.wrong(answers[number]):
                self._judged = inputs[number].value
                self._show_problem(problem)
                self.set_focus(inputs[number])
                return
        if at == len(inputs) - 1:
            self.dismiss(answers)
        else:
            self._show_problem("")
            self.set_focus(inputs[at + 1])

    @on(Input.Changed)
    def clear_problem(self, event: Input.Changed) -> None:
        """Clear the message as soon as the operator corrects the text. Keys in a burst report their changes late, each
        with the text of its moment: what counts is the text that is there now."""
        if self._problem and event.input.value != self._judged:
            self._show_problem("")

    @on(_OneLine.Overfull)
    def report_cut(self) -> None:
        """Display that a paste was cut off: the operator must not find that out from the report."""
        self.call_later(self._show_problem, f"The pasted text is cut off at {_LONGEST} characters.")

    @on(Lines.Scrolled, "#page")
    def show_lines_below(self) -> None:
        """Display how many lines lie below."""
        self._show_problem(self._problem)

    def _show_problem(self, problem: str) -> None:
        self._problem = problem
        self.query_one("#ask-rule", Lines).show(self._rule)

    def action_field(self, by: int) -> None:
        """Go to another field."""
        inputs = self._inputs
        self.set_focus(inputs[max(min(self._at + by, len(inputs) - 1), 0)])

    def action_page(self, pages: int) -> None:
        """Scroll the page by screens."""
        self.query_one("#page", Lines).scroll_pages(pages)

    def action_leave(self) -> None:
        """Cancel without a decision."""
        self.dismiss(None)


async def ask(app: App[None], question: AskPage, then: Callable[[Answer], None]) -> None:
    """Ask the question, and call `then` with the answers, unless the operator cancels."""

    def answered(answer: Answer | None) -> None:
        if answer is not None:
            then(answer)

    asking = AskScreen(question)
    await app.push_screen(asking, answered)
    asking.set_focus(asking.query_one("#field-0"))  # the next key may be here already, and belongs to the answer

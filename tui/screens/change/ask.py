"""Asks something of the person at the keyboard: a page to read, and a few lines to type below it."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tui.screens.change.questions import ChangeQuestion
from tui.screens.styled import StyledScreen
from tui.text.line import Line, sanitize_line
from tui.widgets.bars import lines_below, rule_line
from tui.widgets.lines import Lines

Answer = tuple[str, ...]
_LONGEST = 500
"""Characters of an answer: more is no reason but a document."""


class _OneLine(Input):
    """What is pasted goes onto its one line, harmless, as far as there is room for it; all that does not is told."""

    def on_paste(self, event: events.Paste) -> None:
        """What the terminal brings at once."""
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        """What was copied within racwire."""
        self._take(self.app.clipboard)

    def _take(self, text: str) -> None:
        text = sanitize_line(text)
        start, end = sorted(self.selection)
        room = max(_LONGEST - len(self.value) + end - start, 0)
        self.replace(text[:room], start, end)
        if len(text) > room:
            self.post_message(self.Overfull(self))

    class Overfull(Message):
        """Not all of a paste had room."""

        def __init__(self, line: Input) -> None:
            super().__init__()
            self.line = line

        @property
        def control(self) -> Input:
            """The line."""
            return self.line


class AskScreen(StyledScreen[Answer | None]):
    """Dismissed with what was typed, a text for each field; with None where it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p,ctrl+c,ctrl+q", "leave", show=False, priority=True),
        Binding("enter", "go_on", show=False, priority=True),
        Binding("up,shift+tab", "field(-1)", show=False, priority=True),
        Binding("down,tab", "field(1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
    ]
    AUTO_FOCUS = "Input"

    def __init__(self, question: ChangeQuestion) -> None:
        super().__init__()
        self._question = question
        self._trouble = ""

    def compose(self) -> ComposeResult:
        """What it is about, what is to be typed, and how to leave."""
        question = self._question
        yield Lines(lambda width: [[(f" {question.title}", "title")]], classes="bar")
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
        """The number of the line that is typed on."""
        return next((n for n, typed in enumerate(self._inputs) if typed is self.focused), 0)

    def _rule(self, width: int) -> list[Line]:
        below = self.query_one("#page", Lines).below
        return [rule_line(width, self._trouble, lines_below(below))]

    def _keys(self, width: int) -> list[Line]:
        keys = [("Enter", f"next field, then {self._question.does}"), ("Esc", "cancel")]
        if len(self._question.fields) == 1:
            keys[0] = ("Enter", self._question.does)
        else:
            keys.insert(1, ("↑ ↓", "other field"))
        return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]

    def action_go_on(self) -> None:
        """To the next line; from the last one, on with what was typed, where it will do."""
        inputs = self._inputs
        at = self._at
        answers = tuple(typed.value.strip() for typed in inputs)
        for number, field in enumerate(self._question.fields[: at + 1]):
            if trouble := field.wrong(answers[number]):
                self._say(trouble)
                self.set_focus(inputs[number])
                return
        if at == len(inputs) - 1:
            self.dismiss(answers)
        else:
            self._say("")
            self.set_focus(inputs[at + 1])

    @on(Input.Changed)
    def forget_trouble(self) -> None:
        """What was wrong is being mended."""
        if self._trouble:
            self._say("")

    @on(_OneLine.Overfull)
    def say_full(self) -> None:
        """A paste that is cut off is not to be found out from the report."""
        self.call_later(self._say, f"The pasted text is cut off at {_LONGEST} characters.")

    @on(Lines.Scrolled, "#page")
    def say_where(self) -> None:
        """Say how much there is to read below."""
        self._say(self._trouble)

    def _say(self, trouble: str) -> None:
        self._trouble = trouble
        self.query_one("#ask-rule", Lines).show(self._rule)

    def action_field(self, by: int) -> None:
        """To another line."""
        inputs = self._inputs
        self.set_focus(inputs[max(min(self._at + by, len(inputs) - 1), 0)])

    def action_page(self, pages: int) -> None:
        """Read on."""
        self.query_one("#page", Lines).scroll_pages(pages)

    def action_leave(self) -> None:
        """Decide nothing."""
        self.dismiss(None)

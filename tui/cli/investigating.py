"""The questions of `racwire investigate` as plain text: printed, and answered by lines from stdin."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

from checks.investigate.answering import Advance, excluded_of, left_of
from checks.investigate.choice import Offer
from checks.investigate.guided_session import Question
from checks.model.investigation import By, SessionStep, StepAnswer
from checks.model.signs import SignAt
from checks.model.wording import few
from checks.report.consent_words import consent_text
from checks.report.session_words import after_text, ending_text, outcome_text
from checks.report.step_words import step_about
from checks.report.suspect_words import network_of, sign_text, suspects_in_short
from checks.run.guided import Guided, sends
from tui.cli.line_reader import LineReader
from tui.cli.status_line import StatusLine
from tui.text.line import Line, hanging
from tui.text.pasted_output import END_OF_PASTE, file_named, output_in
from tui.text.question_lines import heading, left_lines, offer_lines, offers_lines, question_network, step_commands

_T = TypeVar("_T")
_KEYS = "Enter makes step 1; 2, 3, … another; s skip, n not possible here, u undo, q leave: "
_STEPS = 5
"""The most steps that a question shows at once."""
_PASTE = (
    f"Paste the output, then a line with only a dot ({END_OF_PASTE}); or < FILE; or `none` where it printed nothing; "
    "or s, n, q: "
)


class _LeftError(Exception):
    """The operator left, stdin has ended, or a signal arrived: the session can be resumed."""


class _Choice(Enum):
    SKIP = auto()
    NOT_POSSIBLE = auto()


class Dialogue:
    """Asks the questions of a session until it ends, or the operator leaves."""

    def __init__(
        self,
        guided: Guided,
        *,
        write: Callable[[Callable[[int], Iterable[Line]]], None],
        status: StatusLine,
        stop: asyncio.Event,
        consent: tuple[str, ...],
        reader: LineReader | None = None,
    ) -> None:
        """`write` prints lines of the width that it passes. `consent` is what racwire sends at most, in sentences."""
        self._guided = guided
        self._write = write
        self._status = status
        self._stop = stop
        self._consent = consent
        self._may_send = False
        self._reader = reader or LineReader()

    async def run(self) -> bool:
        """Ask until the session has ended; return False where the operator left before."""
        try:
            while (question := self._guided.question) is not None:
                self._show(question)
                await self._answer(question)
        except _LeftError:
            return False
        return True

    # --- one question -------------------------------------------------------------------------------------------------

    def _show(self, question: Question) -> None:
        left, excluded = left_of(question), excluded_of(question)

        def lines(width: int) -> Iterable[Line]:
            yield []
            yield from hanging([], heading(question), width, "title")
            yield from left_lines(left, excluded, width, may_be_unknown=question.confirms is None)
            yield from offers_lines(question, width, most=_STEPS)

        self._write(lines)

    async def _answer(self, question: Question) -> None:
        offers = (question.best, *question.others)
        while True:
            typed = (await self._ask(_KEYS)).strip().lower()
            match typed:
                case "" | "1":
                    return await self._make(question.best)
                case "s":
                    return self._tell(self._guided.skip(question.best.step))
                case "n":
                    return self._tell(self._guided.rule_out(question.best.step))
                case "u":
                    if self._guided.undo():
                        return None
                    self._say("There is no answer to take back.")
                case "q":
                    raise _LeftError
                case "m":
                    self._write(lambda width: offers_lines(question, width))
                case _ if typed.isascii() and typed.isdigit() and 2 <= int(typed) <= len(offers):
                    offer, on = offers[int(typed) - 1], question_network(question)
                    self._write(lambda width: offer_lines(offer, width, on=on))  # noqa: B023 - printed at once
                    return await self._make(offer)
                case _:
                    self._say(f"There is no answer {typed[:20]!r} here.")

    async def _make(self, offer: Offer) -> None:
        step = offer.step
        if sends(step) and self._guided.maker is not None and not await self._is_allowed():
            return
        if step.needs_consent and self._guided.maker is not None and not await self._is_consented(step):
            return
        match step.by:
            case By.ITSELF:
                made = await self._unless_stopped(self._guided.make(step, self._status.show))
                if made is not None:
                    self._tell(made)
            case By.COMMAND if step.commands:
                await self._by_command(step)
            case By.HANDS if self._guided.maker is not None:
                await self._by_hand(step)
            case _:
                await self._by_person(step)

    async def _is_allowed(self) -> bool:
        """Return whether racwire may send; it asks once in a session."""
        if not self._may_send:
            for sentence in self._consent:
                self._say(sentence)
            self._may_send = (await self._ask("Send? y or n: ")).strip().lower() in ("y", "yes")
        return self._may_send

    async def _is_consented(self, step: SessionStep) -> bool:
        """Return whether a step may be made that switches something on; it asks each time."""
        self._say(consent_text(step))
        return (await self._ask("Do it? y or n: ")).strip().lower() in ("y", "yes")

    # --- what people do -----------------------------------------------------------------------------------------------

    async def _by_command(self, step: SessionStep) -> None:
        guided = self._guided
        outputs: list[str] = []
        sent: StepAnswer | None = None
        self._write(lambda width: step_commands(step, width))
        if step.probes and guided.maker is not None:
            await self._ask("Start the command, then press Enter: racwire sends while it runs. ")
            sent = await self._sent(step)
        for round_ in range(2 if step.is_twice else 1):
            if round_:
                sent = await self._between(step)
                self._say("Now once more, the same commands.")
            output = await self._output()
            if output is _Choice.SKIP:
                return self._tell(guided.skip(step))
            if output is _Choice.NOT_POSSIBLE:
                return self._tell(guided.rule_out(step))
            assert isinstance(output, str)
            outputs.append(output)
        await self._ask_port(step, outputs[-1])
        return self._tell(guided.paste(step, outputs, sent))

    async def _ask_port(self, step: SessionStep, output: str) -> None:
        """Ask which port of the output leads to the node of the step, where the output does not show it."""
        if not (ports := self._guided.reader.unknown_port(step, output)):
            return
        typed = await self._ask(f"Which port leads to {step.place.nodes[0]}? The output has {few(ports, 6)}: ")
        if typed.strip():
            self._guided.reader.name_port(step, typed.strip())

    async def _between(self, step: SessionStep) -> StepAnswer | None:
        """Send the datagrams between two readings; without a cluster, let the traffic of the cluster pass."""
        if self._guided.maker is None:
            await self._ask("Wait 30 s, so that the counters can move, then press Enter. ")
            return None
        return await self._sent(step)

    async def _sent(self, step: SessionStep) -> StepAnswer | None:
        assert self._guided.maker is not None
        sent = await self._unless_stopped(self._guided.send(step, self._status.show))
        self._status.clear()
        return sent

    async def _by_hand(self, step: SessionStep) -> None:
        """Send before and after a person has moved something, and say what must be put back."""
        self._write(lambda width: hanging([], step_about(step), width))
        before = await self._sent(step)
        typed = (await self._ask("Do it now, then press Enter; s skips it: ")).strip().lower()
        after = None if typed == "s" else await self._sent(step)
        self._say("Put everything back as it was.")
        if before is None or after is None:
            return self._tell(self._guided.skip(step))
        await self._ask("Press Enter once it is back: ")
        return self._tell(self._guided.hands(step, before, after))

    async def _by_person(self, step: SessionStep) -> None:
        """Ask for each sign whether it was seen."""
        seen: list[SignAt] = []
        looked: list[SignAt] = []
        for sign in step.reads:
            typed = (await self._ask(f"Did they see {sign_text(sign)}? y, n, or Enter for not known: ")).strip().lower()
            if typed in ("y", "yes"):
                seen.append(sign)
            if typed in ("y", "yes", "n", "no"):
                looked.append(sign)
        if looked:
            self._tell(self._guided.state(step, seen, looked))
        else:
            self._tell(self._guided.skip(step))

    async def _output(self) -> str | _Choice:
        """Return what a person pastes, or the contents of a file."""
        while True:
            first = await self._ask(_PASTE)
            match first.strip().lower():
                case "s":
                    return _Choice.SKIP
                case "n":
                    return _Choice.NOT_POSSIBLE
                case "q":
                    raise _LeftError
                case "none":
                    return ""
            if path := file_named(first):
                text, problem = await asyncio.to_thread(output_in, Path(path))
                if not problem:
                    return text
                self._say(problem)
                continue
            lines = [first]
            while lines[-1].strip() != END_OF_PASTE:
                lines.append(await self._ask(""))
            if any(line.strip() for line in lines[:-1]):
                return "\n".join(lines[:-1]) + "\n"
            self._say("Nothing was pasted.")

    # --- printing and reading -----------------------------------------------------------------------------------------

    def _tell(self, advance: Advance) -> None:
        """Print what came of a step: what it excludes, and what ended."""
        self._status.clear()
        record = advance.session.record
        answer, on = record.answers[-1], network_of(record.suspects)

        def lines(width: int) -> Iterable[Line]:
            yield []
            yield from hanging([("Result    ", "label")], outcome_text(answer, on), width)
            if advance.excluded:
                yield from hanging([("Excluded  ", "label")], f"{suspects_in_short(advance.excluded, on)}.", width)
            for ending in advance.endings:
                yield from hanging([("End       ", "label")], ending_text(ending), width, "title")
                yield from hanging([("          ", "")], after_text(ending), width)

        self._write(lines)

    def _say(self, sentence: str) -> None:
        self._write(lambda width: hanging([], sentence, width))

    async def _ask(self, prompt: str) -> str:
        """Return the next line. Raises _LeftError at the end of stdin, and where a signal arrived."""
        if prompt:
            self._write(lambda width: hanging([], prompt, width, "accent"))
        line = await self._unless_stopped(self._reader.line())
        if line is None:
            raise _LeftError
        return line

    async def _unless_stopped(self, work: Awaitable[_T]) -> _T | None:
        """Return the result of the work; None where a signal arrived first: the work is cancelled then."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((task, stopping), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise _LeftError
        finally:
            for one in (task, stopping):
                one.cancel()
            await asyncio.gather(task, stopping, return_exceptions=True)

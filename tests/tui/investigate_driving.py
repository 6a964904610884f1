"""Sessions of guided troubleshooting without a cluster: steps with a scripted outcome, and outputs that are read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache

from checks.model.investigation import Fared, SessionRecord, SessionStep, StepAnswer, StepSaid
from checks.model.report import Report
from checks.model.signs import Sign, SignAt
from checks.run.guided import Guided, new_session
from tests.fixtures.reports import black_hole, report_of

NOW = 1_795_000_000.0


class PaperMaker:
    """Makes steps on paper: what is lost is scripted by the declaration's name. It waits while `gate` is closed."""

    def __init__(self, **fared: Sequence[Fared]) -> None:
        self.fared = {name.replace("_", "-"): tuple(one) for name, one in fared.items()}
        self.made: list[str] = []
        self.is_closed = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def make(self, step: SessionStep, progress: Callable[[str], None]) -> StepAnswer:
        progress("UDP packets from rac1 to rac2, 40 of 94")
        await self.gate.wait()
        self.made.append(step.key)
        fared = self.fared.get(step.declared, (Fared.NONE_LOST,) * len(step.probes))
        lost = tuple(
            (0 if one is Fared.NONE_LOST else p.sent // 3, p.sent) for one, p in zip(fared, step.probes, strict=True)
        )
        return StepAnswer(
            step=step, said=StepSaid.DONE, at=NOW + 10, fared=fared, lost=lost, packets=step.price.packets, seconds=2
        )

    async def close(self) -> None:
        self.is_closed = True


class PaperReader:
    """Reads outputs that name their signs; an output without the word `show` is none. `ports` are not known."""

    def __init__(self, *ports: str) -> None:
        self.ports = ports
        self.named = ""

    def __call__(
        self, step: SessionStep, before: str, after: str
    ) -> tuple[tuple[SignAt, ...], tuple[SignAt, ...]] | None:
        if "show" not in after:
            return None
        wanted = {sign for sign in Sign if sign.value in after}
        return tuple(one for one in step.reads if one.sign in wanted), step.reads

    def fares(
        self, step: SessionStep, output: str, sent: Sequence[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...] | None:
        return None

    def unknown_port(self, step: SessionStep, output: str) -> tuple[str, ...]:
        return () if self.named else self.ports

    def name_port(self, step: SessionStep, port: str) -> None:
        self.named = port


@cache
def _black_hole() -> Report:
    return report_of(black_hole())


class PaperSessions:
    """Begins sessions on paper, about a black hole between two nodes whatever the console has found."""

    def __init__(self, maker: PaperMaker | None = None, *ports: str) -> None:
        self.maker = maker
        self.reader = PaperReader(*ports)
        self.kept: list[SessionRecord] = []

    def begin(self, report: Report) -> Guided:
        return Guided(
            new_session(_black_hole(), NOW), self.kept.append, self.reader, self.maker, clock=lambda: NOW + 60
        )

    async def close(self) -> None:
        if self.maker is not None:
            await self.maker.close()

"""The errors of a measurement."""

from __future__ import annotations


class MeasureError(Exception):
    """A measurement is not possible. The message is one sentence, or a few, with what to do next."""


class NotBegunError(MeasureError):
    """The operator stopped a measurement before anything was sent."""

    def __init__(self) -> None:
        super().__init__("Stopped before anything was sent.")


class HaltedError(Exception):
    """A measurement ends early: a sign of harm, a limit, or the operator. The message is one sentence."""

    def __init__(self, sentence: str, *, is_harm: bool) -> None:
        super().__init__(sentence)
        self.is_harm = is_harm

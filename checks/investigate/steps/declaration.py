"""The declaration of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checks.investigate.steps.scene import Scene
from checks.model.investigation import By, SessionStep


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A step that can be made at places: `checks.report.step_words` has what it shows, by its name."""

    name: str
    by: By
    made: Callable[[Scene], Iterator[SessionStep]]
    """Yields it at each of its places on a network."""

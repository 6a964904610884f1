"""What stands in the way of a change, and what to do about it."""

from __future__ import annotations

import msgspec


class Obstacle(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason not to begin the change now."""

    code: str
    """Stable: that of the finding it comes from (`IC-PATH-005`), or one of our own (`CH-START-001`)."""
    title: str
    """A few words for a list."""
    sentence: str
    """What was seen, in full: it could be read aloud."""
    next: tuple[str, ...] = ()
    """What to do about it: a sentence or a command each."""
    acceptable: bool = False
    """Whether the change may be opened in spite of it, for a reason that somebody types."""


class PlanError(Exception):
    """No plan can be made: `obstacles` says why, each with what to do."""

    def __init__(self, obstacles: tuple[Obstacle, ...]) -> None:
        super().__init__(" ".join(o.sentence for o in obstacles))
        self.obstacles = obstacles

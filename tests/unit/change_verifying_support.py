"""Verifications of a change for tests."""

from checks.change.progress.change_events import AnyEvent, Reopened, Surprise, Surprised, Verified
from tests.unit.change_support import (
    setup,
)


def verified(events: tuple[AnyEvent, ...]) -> Verified:
    return next(event for event in events if isinstance(event, Verified))


def surprised(events: tuple[AnyEvent, ...]) -> list[tuple[Surprise, str, bool]]:
    return [(e.what, e.node, e.dangerous) for e in events if isinstance(e, Surprised)]


def sentences_of(events: tuple[AnyEvent, ...]) -> str:
    return "\n".join(e.sentence for e in events if isinstance(e, Surprised))


def reopened(events: tuple[AnyEvent, ...]) -> list[str]:
    return [event.step for event in events if isinstance(event, Reopened)]


def not_held(events: tuple[AnyEvent, ...]) -> list[tuple[str, str]]:
    return [(r.check, r.node) for r in verified(events).results if not r.holds]


def booted(node: str, **more: object) -> object:
    return setup(node, runs=False, mtu=9000, boot="second", **more)

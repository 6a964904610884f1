"""The event for the line on every screen."""

from __future__ import annotations

from collections.abc import Callable

from checks.model.cluster_event import ClusterEvent
from checks.model.situation import Episode, Situation


def needs_run(episode: Episode) -> bool:
    """Return whether a run of the checks is the next step about an event: no finding is about it while it lasts, or no
    run has proved that it is over. No run can look where a node does not answer, nor at a time without samples; of what
    is bad again, the later event has the next step."""
    if not episode.event.is_problem or not episode.event.conditions or episode.step or episode.is_open:
        return False
    if episode.is_again:
        return False
    return not episode.has_finding if episode.until is None else episode.proved is None


def foremost(situation: Situation, is_listed: Callable[[ClusterEvent], bool]) -> Episode | None:
    """Return the newest event that needs a run, those first that last; else the newest that lasts; None where there is
    none."""
    shown = [e for e in situation.episodes if is_listed(e.event) and (e.until is None or needs_run(e))]
    return max(shown, key=lambda e: (needs_run(e), e.until is None, not e.is_open, e.event.number), default=None)


def newest_alarm(situation: Situation, is_listed: Callable[[ClusterEvent], bool]) -> Episode | None:
    """Return the newest alarm that lasts; else the event for the line on every screen; None where there is none."""
    alarms = [episode for episode in situation.lasting if is_listed(episode.event)]
    return max(alarms, key=lambda e: e.event.number, default=None) or foremost(situation, is_listed)

"""The JSON output of `racwire change`: status, steps, results of a gate, list of changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from checks.change.plan.change_plan import Step
from checks.change.progress.change_events import (
    Begun,
    Booted,
    JournalLine,
    JournalSeal,
    Reopened,
    Surprised,
    Verified,
)
from checks.change.progress.change_text import headline
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.planned_stops import PlannedStop, planned_stops
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change
from checks.change.record.change_journal import FoundJournal
from checks.model.sanitize import json_escaped
from tui.text.step_lines import commands_for


def as_json(document: dict[str, Any]) -> bytes:
    """The document as JSON: UTF-8, indented by two spaces, with a final line feed."""
    return escaped(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def escaped(json: bytes) -> bytes:
    """The JSON with all control characters escaped that a terminal obeys: JSON itself escapes only those in ASCII."""
    return json_escaped(json.decode()).encode()


def status_document(change: Change, path: str, seal: JournalSeal | None = None) -> dict[str, Any]:
    """The status of a change: `racwire-change-status/1`. `alarms` are the surprises that are not over,
    `stops` what its started steps stop, `journal_end` has the number of lines and the hash of the last."""
    current = change.current
    return {
        "schema": "racwire-change-status/1",
        **_names(change, path),
        "steps": [
            {
                "number": number,
                "id": step.id,
                "title": step.title,
                "standing": change.standing(step).value,
                "waits_for": list(change.mark(step).waits_for(step)),
                "started_at": [line.at for line in change.starts(step)],
                "verified_at": _verified_at(change, step),
                "passed": change.mark(step).passed,
                "unattested": list(change.mark(step).unattested(step)),
            }
            for number, step in enumerate(change.plan.steps, 1)
        ],
        "gate": [] if current is None else list(map(_own(change).document, change.mark(current).results)),
        "gate_verified_at": _verified_at(change, current),
        "surprises": [line.event for line in change.surprises],
        "alarms": standing_alarms(change),
        "stops": list(map(_stop, planned_stops(change))),
        "journal_end": seal,
    }


def steps_document(change: Change, steps: Sequence[Step], path: str, node: str = "") -> dict[str, Any]:
    """Steps with all their texts and commands: `racwire-change-steps/1`."""
    own = _own(change)
    return {
        "schema": "racwire-change-steps/1",
        **_names(change, path),
        "steps": [
            {
                "number": change.plan.position(step.id) + 1,
                "id": step.id,
                "title": step.title,
                "standing": change.standing(step).value,
                "waits_for": list(change.mark(step).waits_for(step)),
                "what": own.text(step.what),
                "why": step.why,
                "commands": [
                    {
                        "where": block.heading,
                        "who": block.who,
                        "by_hand": block.by_hand,
                        "node": block.node,
                        "lines": [*block.lines, *map(own.line, block.own)],
                        "note": own.text(block.note),
                        "effect": block.effect,
                        "optional": block.optional,
                    }
                    for block in commands_for(step, node)
                ],
                "expected": step.expected,
                "gates": list(dict.fromkeys(gate.check for gate in step.gates)),
                "attest": step.attest,
                "attest_asks": step.attest_asks,
                "attest_for": list(step.attest_for),
                "minutes": step.minutes,
                "point_of_no_return": step.no_return,
                "if_rolled_back": own.text(step.if_rolled_back),
            }
            for step in steps
        ],
    }


def verified_document(change: Change, verified: Verified, after: Iterable[JournalLine], path: str) -> dict[str, Any]:
    """The results of a gate, and the events that its check found: `racwire-change-gate/1`."""
    lines = list(after)
    return {
        "schema": "racwire-change-gate/1",
        **_names(change, path),
        "step": verified.step,
        "passed": verified.passed,
        "results": list(map(_own(change).document, verified.results)),
        "figures": verified.figures,
        "surprises": [line.event for line in lines if isinstance(line.event, Surprised)],
        "booted": [line.event for line in lines if isinstance(line.event, Booted)],
        "reopened": [line.event for line in lines if isinstance(line.event, Reopened)],
    }


def started_document(change: Change, line: JournalLine, path: str) -> dict[str, Any]:
    """The start of a step, with what was read right before: `racwire-change-start/1`."""
    assert isinstance(line.event, Begun)
    return {
        "schema": "racwire-change-start/1",
        **_names(change, path),
        "step": line.event.step,
        "started_at": line.at,
        "read": line.event.look,
        "stops": [_stop(stop) for stop in planned_stops(change) if stop.began == line.at],
    }


def _stop(stop: PlannedStop) -> dict[str, Any]:
    return {
        "step": stop.step,
        "kinds": sorted(stop.kinds),
        "nodes": sorted(stop.nodes),
        "started_at": stop.began,
        "until": stop.until,
        "most_s": stop.most_s,
        "over_at": stop.over,
        "stops_database": stop.stops_database,
    }


def list_document(found: Iterable[FoundJournal]) -> dict[str, Any]:
    """All changes in a directory: `racwire-changes/1`."""
    return {
        "schema": "racwire-changes/1",
        "changes": [
            {"journal": _path_text(str(each.path)), "problem": _path_text(each.problem)}
            if each.change is None
            else _names(each.change, str(each.path))
            for each in found
        ],
    }


def _own(change: Change) -> OwnCommands:
    return OwnCommands(program=change.opened.noun)


def _names(change: Change, path: str) -> dict[str, Any]:
    plan = change.opened
    return {
        "change": plan.id,
        "cluster": plan.cluster,
        "kind": plan.kind,
        "goal": headline(plan),
        "journal": _path_text(path),
        "mtu_before": plan.mtu_before,
        "mtu_after": plan.mtu_after,
        "nodes": plan.nodes,
        "way_back": change.is_way_back,
        "outcome": change.outcome,
        "current": change.current.id if change.current else "",
    }


def _verified_at(change: Change, step: Step | None) -> str:
    """The time of the verification whose result stands; empty where there is none."""
    verified = change.mark(step).verified if step is not None else None
    return verified.at if verified is not None else ""


def _path_text(path: str) -> str:
    """A path as text, with an escape for each byte that is not UTF-8: JSON cannot hold such bytes."""
    return path.encode(errors="backslashreplace").decode()

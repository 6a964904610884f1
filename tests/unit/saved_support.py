"""Saved files for tests: of a cluster with a black hole, with and without a recording, and taken apart."""

from __future__ import annotations

import asyncio
import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checks.model.check import Check
from checks.model.report import Report
from checks.run.check_discovery import discover
from checks.run.events import RunFinished
from checks.saved import open_saved, save
from checks.saved.replay import Replay
from checks.traffic.recorder import Recorder
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import busy, header


def recording(path: Path, seconds: int = 5) -> Path:
    """A recording of a busy cluster."""
    recorder = Recorder.create(path, header("mtu1500"))
    for events in busy(seconds):
        recorder.write(events)
    recorder.close()
    return path


def saved(directory: Path, report: Report | None = None, *, with_recording: bool = False) -> Path:
    """A saved file."""
    path = directory / "night.racwire"
    traffic = recording(directory / "a.rec") if with_recording else None
    save(path, report or report_of(black_hole()), traffic, replace=False)
    return path


def members_of(path: Path) -> dict[str, bytes]:
    """All that is in a saved file, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, members: Mapping[str, bytes], /, **manifest: Any) -> Path:
    """A saved file of these members, whose manifest tells the truth but for what is given."""
    told = {
        "format": "racwire-saved/1",
        "racwire_version": "0.1.0",
        "saved_at": "2026-11-20T14:05:00.000+01:00",
        "is_redacted": False,
        "members": {name: member(data) for name, data in members.items()},
        **manifest,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(told))
    return path


def member(data: bytes) -> dict[str, object]:
    """What the manifest says of a member."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def judged_here(path: Path) -> Report:
    """The report of a saved file in the words of these checks: those that it was saved with may have had others."""
    with open_saved(path, recording=False) as opened:
        return asyncio.run(replayed(opened.report))


async def replayed(report: Report, checks: list[Check] | None = None, **more: Any) -> Report:
    """The report of its replay, run to the end."""
    engine = Replay(report, discover() if checks is None else checks, **more)
    finished = [event.report async for event in engine.events() if isinstance(event, RunFinished)]
    assert finished == [engine.report()]
    return finished[0]

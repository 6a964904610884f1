"""Saved files for tests: of a cluster with a black hole, with and without a recording; and helpers to modify them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from checks.model.check import Check
from checks.model.report import Report
from checks.report.json_report import to_json
from checks.run.check_discovery import discover
from checks.run.events import RunFinished
from checks.saved import open_saved, save
from checks.saved.manifest import Proof
from checks.saved.saved_replay import Replay
from checks.traffic.recorder import Recorder
from checks.whole_files import OutputFile
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import busy, header


def recording(path: Path, seconds: int = 5) -> Path:
    """Make a recording of a busy cluster."""
    recorder = Recorder.create(path, header("mtu1500"))
    for events in busy(seconds):
        recorder.write(events)
    recorder.close()
    return path


def saved(directory: Path, report: Report | None = None, *, with_recording: bool = False) -> Path:
    """Make a saved file."""
    path = directory / "night.racwire"
    traffic = recording(directory / "a.rec") if with_recording else None
    save(OutputFile(path), report or report_of(black_hole()), traffic)
    return path


def members_of(path: Path) -> dict[str, bytes]:
    """Return the members of a saved file of either format, by name: `manifest`, `report`, and `recording` if present.

    A recording is all values of its tables, decompressed.
    """
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {name.partition(".")[0]: archive.read(name) for name in archive.namelist()}
    with closing(sqlite3.connect(path)) as file:
        found = {
            "manifest": file.execute("SELECT body FROM manifest").fetchone()[0].encode(),
            "report": zlib.decompress(b"".join(body for (body,) in file.execute("SELECT body FROM report"))),
        }
        if file.execute("SELECT 1 FROM sqlite_master WHERE name = 'samples'").fetchone():
            texts = [file.execute(f"SELECT * FROM {table}").fetchall() for table in ("header", "shapes", "links")]
            rows = [zlib.decompress(body) for (body,) in file.execute("SELECT body FROM samples")]
            found["recording"] = repr(texts).encode() + b"".join(rows)
        return found


def with_report(path: Path, data: bytes, /, **manifest: Any) -> Path:
    """Make a saved file of this report, whose manifest is correct except for `manifest`."""
    save(OutputFile(path, replace=True), report_of(black_hole()), None)
    proof = Proof()
    packed = zlib.compress(data)
    proof.add(("report", (0, packed)))
    body = json.loads(members_of(path)["manifest"])
    body |= {"members": {"report": msgspec.to_builtins(proof.member)}, **manifest}
    with closing(sqlite3.connect(path)) as file:
        file.execute("DELETE FROM report")
        file.execute("INSERT INTO report VALUES (0, ?)", (packed,))
        file.execute("UPDATE manifest SET body = ?", (json.dumps(body),))
        file.commit()
    return path


def zipped_first(path: Path) -> Path:
    """Make a saved file of racwire 0.1.0: a zip, without a recording."""
    return packed(path, {"report.json": to_json(report_of(black_hole()))})


def packed(path: Path, members: Mapping[str, bytes], /, **manifest: Any) -> Path:
    """Make a saved file of racwire 0.1.0 of these members, whose manifest is correct except for `manifest`."""
    entries = {
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
        archive.writestr("manifest.json", json.dumps(entries))
    return path


def member(data: bytes) -> dict[str, object]:
    """Return the manifest's entry of a member."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def judged_here(path: Path) -> Report:
    """Return the report of a saved file with the texts of these checks: it may have been saved with others."""
    with open_saved(path, recording=False) as opened:
        return asyncio.run(replayed(opened.report))


async def replayed(report: Report, checks: list[Check] | None = None, **more: Any) -> Report:
    """Return the report of a complete replay."""
    engine = Replay(report, discover() if checks is None else checks, **more)
    finished = [event.report async for event in engine.events() if isinstance(event, RunFinished)]
    assert finished == [engine.report()]
    return finished[0]

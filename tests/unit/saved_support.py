"""Saved files for tests: of a cluster with a black hole, with and without a recording; and helpers to modify them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from checks.model.check import Check
from checks.model.report import Report
from checks.run.check_discovery import discover
from checks.saved import open_saved, save
from checks.saved.manifest import Proof
from checks.saved.saved_replay import Replay
from checks.traffic.recorder import Recorder
from checks.whole_files import OutputFile
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import busy, header

_TEXTS = {"header", "shapes", "links", "journal"}


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
    """Return the members of a saved file, by name: `manifest`, `report`, and `recording` if present.

    A recording is all values of its tables, decompressed.
    """
    with closing(sqlite3.connect(path)) as file:
        found = {
            "manifest": file.execute("SELECT body FROM manifest").fetchone()[0].encode(),
            "report": zlib.decompress(b"".join(body for (body,) in file.execute("SELECT body FROM report"))),
        }
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE sql NOT NULL")}
        if "samples" in tables:
            texts = [file.execute(f"SELECT * FROM {name}").fetchall() for name in sorted(tables & _TEXTS)]
            deflated = sorted(tables & {"samples", "runs"})
            rows = [zlib.decompress(body) for name in deflated for (body,) in file.execute(f"SELECT body FROM {name}")]
            found["recording"] = repr(texts).encode() + b"".join(rows)
        return found


def with_report(path: Path, data: bytes, /, **manifest: Any) -> Path:
    """Make a saved file of this report, whose manifest is correct except for `manifest`."""
    save(OutputFile(path, replace=True), report_of(black_hole()), None)
    proof = Proof()
    packed = zlib.compress(data)
    proof.add(("report", (0, packed)))
    body = json.loads(members_of(path)["manifest"])
    body |= {"members": {"report": msgspec.to_builtins(proof.member)}, "sha256": "", **manifest}
    with closing(sqlite3.connect(path)) as file:
        file.execute("DELETE FROM report")
        file.execute("INSERT INTO report VALUES (0, ?)", (packed,))
        file.execute("UPDATE manifest SET body = ?", (json.dumps(body),))
        file.commit()
    return path


def report_in(path: Path) -> Report:
    """Return the report of a saved file, which is closed again."""
    with open_saved(path, recording=False) as opened:
        return opened.report


def judged_here(path: Path) -> Report:
    """Return the report of a saved file with the texts of these checks: it may have been saved with others."""
    with open_saved(path, recording=False) as opened:
        return asyncio.run(replayed(opened.report))


async def replayed(report: Report, checks: list[Check] | None = None, **more: Any) -> Report:
    """Return the report of a complete replay."""
    return await Replay(report, discover() if checks is None else checks, **more).run()

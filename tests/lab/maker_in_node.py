"""Make the automatic steps of guided troubleshooting on a practice node: `python maker_in_node.py REPORT`.

Steps are lines of JSON on stdin, answers are lines of JSON on stdout.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec
from msgspec.structs import replace

from checks.measure.session_harm import open_investigator
from checks.model.investigation import SessionStep
from checks.report.json_report import from_json
from checks.run.settings_file import load_settings


async def main(report: bytes) -> None:
    settings = load_settings(None)
    # The CPUs of a machine that runs tests are busy: that is no harm done by a step.
    measure = replace(settings.measure, most_cpu_percent=100.0)
    settings = replace(settings, measure=measure, investigate=replace(settings.investigate, seconds=600.0))
    cluster = from_json(report).cluster
    async with open_investigator(cluster, settings) as maker:
        while line := await asyncio.to_thread(sys.stdin.readline):
            answer = await maker.make(msgspec.json.decode(line, type=SessionStep))
            print(msgspec.json.encode(answer).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_bytes()))

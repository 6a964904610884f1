"""Make the automatic steps of guided troubleshooting on a practice node: `python steps_in_node.py REPORT`.

Steps are lines of JSON on stdin, answers are lines of JSON on stdout.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from checks.model.investigation import Step
from checks.report.json_report import from_json
from checks.run.investigating import Budget, Investigator
from checks.run.settings_file import load_settings


async def main(report: str) -> None:
    settings = load_settings(None)
    maker = Investigator(from_json(Path(report).read_bytes()).cluster, settings, Budget.left(settings, None))
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            answer = await maker.make(msgspec.json.decode(line, type=Step))
            print(msgspec.json.encode(answer).decode(), flush=True)
    finally:
        await maker.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

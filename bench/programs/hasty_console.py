"""Run the console with a shorter interval than users can set: `python -m … INTERVAL_S FILE`.

Settings, feed, timeline and screens are the usual ones. Once a second, the program writes the number of samples of each
source into the file, as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from checks.run.settings_file import load_settings
from checks.traffic.samples import Event, Gap, Links
from checks.traffic.timeline import Timeline
from tui.console.start import run_console

_counts: Counter[str] = Counter()
_add = Timeline.add


def main() -> int:
    """Run the console. Return its exit code."""
    interval_s, file = float(sys.argv[1]), Path(sys.argv[2])
    settings = load_settings(None)
    # The interval is below the limit of the settings file; settings made here are not validated.
    traffic = msgspec.structs.replace(settings.traffic, interval_s=interval_s, pairs_interval_s=interval_s)
    sampling = msgspec.structs.replace(settings.sampling, interval_s=1.0)
    Timeline.add = _counting  # type: ignore[method-assign, assignment]
    threading.Thread(target=_write, args=(file,), daemon=True).start()
    return run_console(msgspec.structs.replace(settings, traffic=traffic, sampling=sampling))


def _counting(timeline: Timeline, events: Iterable[Event]) -> None:
    events = list(events)
    _counts.update(str(event.source) for event in events if not isinstance(event, Gap | Links))
    _add(timeline, events)


def _write(file: Path) -> None:
    new = file.with_suffix(".new")
    while True:
        new.write_text(json.dumps(dict(_counts)), encoding="utf-8")
        new.rename(file)
        time.sleep(1)


sys.exit(main())

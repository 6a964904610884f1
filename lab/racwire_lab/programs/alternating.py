"""Change a link at intervals: `python alternating.py FILE MARK FIRST_S USUAL_S OTHER_S USUAL OTHER`.

USUAL and OTHER are commands of `ip`, each as one word. When FILE is removed, the program leaves the link in its usual
state, removes MARK and ends. It needs only the standard library, and imports nothing of racwire.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence

_POLL_S = 0.1


def main(argv: Sequence[str]) -> int:
    """Change the link until the file is gone."""
    file, mark, first_s, usual_s, other_s, usual, other = argv
    try:
        pause_s = first_s
        while _remains(file, float(pause_s)):
            _ip(other)
            _remains(file, float(other_s))
            _ip(usual)
            pause_s = usual_s
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(mark)
    return 0


def _remains(file: str, seconds: float) -> bool:
    """Wait so long, or until the file is gone. Return whether it is there."""
    end = time.monotonic() + seconds
    while is_there := os.path.exists(file):
        left = end - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(left, _POLL_S))
    return is_there


def _ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

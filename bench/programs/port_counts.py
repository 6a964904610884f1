"""Sample the counters of one port every 20 ms until stdin ends: `python port_counts.py PORT`.

Runs in the namespace of the switches. Prints a line of JSON a sample: the time before and after it was read, in seconds
of the monotonic clock, and the bytes and packets in and out.
"""

import json
import select
import sys
import time

_EVERY_S = 0.02


def main() -> None:
    """Sample until stdin ends."""
    port = sys.argv[1] + ":"
    while not select.select([0], [], [], _EVERY_S)[0]:
        before = time.monotonic()
        with open("/proc/net/dev", encoding="ascii") as table:
            words = next(line.split() for line in table if line.split()[0] == port)
        print(json.dumps([before, time.monotonic(), *(int(words[place]) for place in (1, 2, 9, 10))]))


if __name__ == "__main__":
    main()

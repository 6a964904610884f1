"""Runs a command on a terminal of 80x24 until it has drawn a text, types `q`, and waits for its end.

    python3.13 -I in_pty.py TEXT COMMAND...

Ends with exit code 1 where the text does not come within a minute, else with that of the command.
"""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time


def main(text: str, command: list[str]) -> int:
    """Return the exit code."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    drawn, typed, end = b"", False, time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            drawn += os.read(terminal, 65536)
        except OSError:  # the command has closed its side
            break
        if not typed and text.encode() in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", drawn):
            os.write(terminal, b"q")
            typed = True
    if not typed:
        sys.stdout.write(f"{text!r} was not drawn; the end of what was: {drawn[-2000:]!r}\n")
        return 1
    sys.stdout.write(f"{text!r} was drawn\n")
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Run racwire commands on a practice node, each in a process forked from this one, which has loaded the modules: a
rehearsal has many commands, and a new Python process for each would take most of its time.

Orders are lines of JSON on stdin: the `words` of the command, and `kill`. `verifying` kills the command with SIGKILL
while it verifies a gate; `reported` kills it as soon as it has printed the result. An order with `program` runs these
lines of Python instead of a command. Answers are lines of JSON on stdout.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import traceback
from importlib import import_module

import checks.change.gates
import checks.change.plan.planning
import checks.change.session.opening
import checks.plugins
import checks.report.json_report  # noqa: F401 - loaded once, for all commands
import tui.cli.change.new
import tui.cli.change.show
import tui.cli.change.verify
import tui.cli.progress
from checks.run.check_discovery import discover
from checks.run.events import Gathered
from checks.run.settings_file import load_settings
from tui.cli.main import main


def carry_out(words: list[str] | None = None, kill: str = "", program: str = "") -> dict[str, object]:
    """Run one command, or a program, to its end, or until it is killed."""
    out, err, verifying = (os.pipe() for _ in range(3))
    child = os.fork()
    if child == 0:
        os.dup2(out[1], 1)
        os.dup2(err[1], 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal_verification(verifying[1])
        if kill == "reported":
            wait_after_report()
        code = 99
        try:
            code = run_program(program) if words is None else main(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    for pipe in (out, err, verifying):
        os.close(pipe[1])
    outputs = {out[0]: b"", err[0]: b"", verifying[0]: b""}
    trigger = {"verifying": verifying[0], "reported": out[0]}.get(kill)
    handle = os.pidfd_open(child)
    ended = False
    while not ended:
        ready, _, _ = select.select([*outputs, handle], [], [])
        ended = handle in ready
        for pipe in [pipe for pipe in outputs if pipe in ready or ended]:
            os.set_blocking(pipe, False)
            read_available(outputs, pipe)
        if trigger is not None and outputs[trigger]:
            os.kill(child, signal.SIGKILL)
            trigger = None
    _, status = os.waitpid(child, 0)
    for pipe in (*(pipe[0] for pipe in (out, err, verifying)), handle):
        os.close(pipe)
    text = {"out": outputs[out[0]].decode(), "err": outputs[err[0]].decode()}
    return {"code": os.waitstatus_to_exitcode(status), **text}


def run_program(program: str) -> int:
    """Run the program as `python -c` would."""
    exec(program, {"__name__": "__main__"})
    return 0


def read_available(outputs: dict[int, bytes], pipe: int) -> None:
    """Read the available output. The ssh sessions of a killed command may keep the pipe open; do not wait for them."""
    try:
        while part := os.read(pipe, 65536):
            outputs[pipe] += part
    except BlockingIOError:
        return


def signal_verification(pipe: int) -> None:
    """Write to the pipe when the first facts have been gathered for a gate."""
    original = tui.cli.progress.Progress.__call__

    def signalling(self: tui.cli.progress.Progress, event: object) -> None:
        if isinstance(event, Gathered):
            os.write(pipe, b".")
        original(self, event)

    tui.cli.progress.Progress.__call__ = signalling


def wait_after_report() -> None:
    """Stop after the result: the signal comes then."""
    tui.cli.change.show.print_message = lambda _: signal.pause()


def load() -> None:
    """Load all modules that a command needs; those of the database only when there is one."""
    discover()
    import_module("tui.cli.load_or_run")
    import_module("tui.cli.text_report")
    import_module("pyroute2")
    if load_settings(None).database.connect:
        import_module("oracledb")


if __name__ == "__main__":
    load()
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(carry_out(**order)), flush=True)

"""A rehearsal: a practice cluster, racwire on its nodes, and an operator who follows `racwire change next`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

import racwire_lab
from checks.change.board.change_report import ChangeReport
from tests.lab.lab_support import run, until
from tests.lab.node_operator import CommandResult, Operator
from tui.cli.main import main

_ENOUGH_S = 6
"""Seconds that a recording must have to be compared second by second."""
_RECORDINGS = 2
"""Maximum of repetitions of an inconclusive recording: the machine may be busy."""
_NOTE = "Carl Poe of the network team, 02:10; filed with CHG42"
"""The note of each attestation: some steps ask for names, times and places."""
_HARM = "drop|error|reassembly|lost"
"""Words for effects that other work on the machine does not cause."""
_CHANGE = """
[change]
directory = "{directory}"
switches = ["practice"]
record_s = {record_s}
"""
_SETTINGS = """\
[sampling]
interval_s = 1
interval_without_database_s = 1
[probe]
packets = 5
[thresholds]
steal_warn_percent = 35
steal_fail_percent = 35
"""
_DATABASE = """\
[database]
connect = "{access.connect}"
user = "{access.user}"
password_file = "{access.password_file}"
"""


class Rehearsal:
    """A change on a practice cluster of its own."""

    def __init__(
        self, directory: Path, *, nodes: int = 2, mtu: int = 1500, keeper: str = "keyfile", switch_mtu: int = 1500,
        database: bool = False, record_s: int = 8, spare: bool = False,
    ) -> None:  # fmt: skip
        """`record_s` is the length of each of the two recordings in seconds.

        Short recordings are inconclusive; the operator can override that. `spare` adds a network that Clusterware does
        not know.
        """
        self.directory = directory / "lab"
        self._compares = record_s >= _ENOUGH_S
        os.environ["RACWIRE_LAB_DIR"] = str(self.directory)
        self._operators: dict[str, Operator] = {}
        self.lab = racwire_lab.up(
            nodes=nodes,
            mtu=mtu,
            keeper=keeper,
            switch_mtu=switch_mtu,
            database=database,
            has_spare=spare,
            fragment_time_s=2,
        )
        self.nodes = self.lab.nodes
        self.changes = directory / "changes"
        settings = directory / "settings.toml"
        access = self.lab.database
        settings.write_text(
            _SETTINGS
            + _CHANGE.format(directory=self.changes, record_s=record_s)
            + (_DATABASE.format(access=access) if access else "")
        )
        bin_ = directory / "bin"
        bin_.mkdir()
        (bin_ / "racwire").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m racwire "$@"\n')
        (bin_ / "racwire").chmod(0o755)
        self.environment = {"RACWIRE_SETTINGS": str(settings), "PATH": f"{bin_}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def end(self) -> None:
        """Remove the cluster."""
        os.environ["RACWIRE_LAB_DIR"] = str(self.directory)
        try:
            for operator in self._operators.values():
                operator.leave()
            racwire_lab.down()
        finally:
            del os.environ["RACWIRE_LAB_DIR"]

    # --- racwire ------------------------------------------------------------------------------------------------------

    def change(self, *words: str, node: str = "rac1", kill: str = "") -> CommandResult:
        """Run `racwire change …` on that node."""
        if node not in self._operators:
            self._operators[node] = Operator(self.lab, node, self.environment)
        return self._operators[node].type(["change", *words], kill)

    def begin(self, target: int = 9000) -> None:
        """Open the change of the MTU."""
        self.open("--to", str(target))

    def open(self, *words: str) -> None:
        """Open a change with these words of `racwire change new`."""
        result = self.change("new", *words, "--reason", "CHG42")
        assert result.code == 0, result.out + result.err

    def forget_change(self) -> None:
        """Remove the journals: the next test starts without any."""
        for journal in self.changes.glob("*.change"):
            journal.unlink()

    @property
    def current(self) -> str:
        """The id of the current step; empty when all steps are done."""
        return str(self.change("status", "--format", "json").document["current"])

    def step(self) -> dict[str, Any]:
        """The current step, as `racwire change next` prints it."""
        steps = self.change("next", "--format", "json").document["steps"]
        return dict(steps[0])

    def verify(self, node: str = "rac1") -> dict[str, Any]:
        """Verify the gate. Return the result with the exit code."""
        result = self.change("verify", "--format", "json", node=node)
        assert result.code in (0, 2, 3), result.err
        return {**result.document, "code": result.code}

    def report(self) -> ChangeReport:
        """Return the report, from its JSON, in which next steps are lines for people."""
        document = self.change("report", "--format", "json").document
        gates = [step.get("results", ()) for step in document["steps"]]
        overridden = [override.get("not_held", ()) for override in document.get("overrides", ())]
        for result in chain.from_iterable((*gates, *overridden)):
            result.pop("next", None)
        return msgspec.convert(document, ChangeReport)

    # --- the operator -------------------------------------------------------------------------------------------------

    def operate(self, step: dict[str, Any], nodes: Sequence[str] | None = None, but: str = "") -> None:
        """Run every command that a step prints, at its place; only on the specified nodes, and without the lines that
        contain the text `but`, as an operator who forgets them.

        Optional commands are left out.
        """
        for block in step["commands"]:
            lines = [line for line in block["lines"] if not but or but not in line]
            if (nodes is not None and block["node"] not in nodes) or block.get("optional"):
                continue
            if any(line.startswith("racwire lab") for line in lines):
                self.outside(lines)
            else:
                self.inside(block["node"] or self.nodes[0], lines)

    def inside(self, node: str, lines: Sequence[str]) -> None:
        """Paste lines into the root shell of a node."""
        if not lines:
            return
        before = self._boot(node)
        done = run_in(self.lab, node, "\n".join(lines), self.environment)
        if "reboot" in lines:
            until(lambda: self._boot(node) != before, f"{node} did not come up again")
            if node in self._operators:
                self._operators.pop(node).leave()
            return
        if not any(line.startswith("racwire compare") for line in lines):  # its exit code is the verdict
            assert done.returncode == 0, f"{node}: {done.args}\n{done.stdout}{done.stderr}"

    def outside(self, lines: Sequence[str]) -> None:
        """Run lines where the practice cluster was built: at its switch."""
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                assert words[0] == "racwire", line
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as stderr:
                    assert main(words[1:]) == 0, stderr.getvalue()

    def attest(self, step: dict[str, Any]) -> None:
        """Attest the current step if it needs an attestation."""
        if "an attestation" in step["waits_for"] and self.current == step["id"]:
            result = self.change("attest", "--by", "Ann Lee of the DBAs", "--note", _NOTE)
            assert result.code == 0, result.err

    def walk(self, until_step: str = "", *, look_first: bool = False) -> None:
        """Do each step as it is printed and verify its gate, up to the specified step or to the end.

        With `look_first`, a step whose gate passes already is not done: during a rollback many steps have nothing to
        undo.
        """
        while (current := self.current) and current != until_step:
            step = self.step()
            if look_first and "its gate" in step["waits_for"] and self.verify()["passed"]:
                self.attest(step)
                continue
            self.operate(step)
            self.prove(step)

    def _passing(self) -> dict[str, Any] | None:
        verified = self.verify()
        return verified if verified["passed"] else None

    def prove(self, step: dict[str, Any]) -> None:
        """Attest a step and verify its gate, which must pass."""
        if "its gate" in step["waits_for"]:
            verified = self.verify()
            again = _RECORDINGS if step["id"] == "baseline" or (step["id"] == "compare" and self._compares) else 0
            while not verified["passed"] and again:
                again -= 1
                self.record_again(step)
                verified = self.verify()
            if step["id"] == "databases":  # instances register their services with the listeners after they have opened
                verified = verified if verified["passed"] else until(self._passing, "the services are not registered")
            if not verified["passed"] and step["id"] == "compare":
                self.weigh(verified["results"])
            else:
                assert verified["passed"], (step["id"], waiting(verified), verified["surprises"])
        self.attest(step)

    def record_again(self, step: dict[str, Any]) -> None:
        """Record again, as the gate requests for a recording that is too short or inconclusive: the machine may be
        busy."""
        for block in step["commands"]:
            lines = [line.replace("racwire record", "racwire record --force") for line in block["lines"]]
            self.inside(block["node"] or self.nodes[0], [line for line in lines if "racwire record" in line])

    def weigh(self, results: Sequence[dict[str, Any]]) -> None:
        """Override an inconclusive comparison: short recordings on a busy machine are inconclusive.

        Only the time of a block may be worse, because other work on the machine makes it longer.
        """
        harm = [r.get("sentence", r["text"]) for r in results if r["status"] == "FAIL"]
        assert not [text for text in harm if "receive time" not in text or re.search(_HARM, text)], results
        result = self.change("override", "--by", "Ann Lee", "--reason", "The machine was busy with other work.")
        assert result.code == 0, result.err

    def mtu(self, node: str, interface: str = "eth1") -> int:
        """Return the current MTU of an interface of a node."""
        return int(run(self.lab, node, "cat", f"/sys/class/net/{interface}/mtu").stdout)

    def _boot(self, node: str) -> str:
        path = self.directory / "nodes" / node / "booted"
        return path.read_text() if path.exists() else ""


def run_in(
    cluster: racwire_lab.Lab, node: str, script: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run lines in a shell of a node that stops at the first failure."""
    return subprocess.run(
        cluster.enter(node, ["sh", "-e", "-c", script]),
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, **cluster.environment(node), **environment},
    )  # fmt: skip


def waiting(verified: dict[str, Any]) -> list[str]:
    """Return the failed results that prevent the next step, as `kept-mtu rac2: eth1 of rac2 …`."""
    return [
        f"{r['check']} {r.get('node', '')}: {r.get('sentence', r['text'])}"
        for r in verified["results"]
        if r["status"] not in ("PASS", "INFO", "SKIPPED")
    ]

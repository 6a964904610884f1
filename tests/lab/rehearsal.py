"""A rehearsal: a practice cluster, racwire on its nodes, and an operator who does what `racwire change next` says."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec

import racwire_lab
from checks.change.change_report import ChangeReport
from tests.lab.lab_support import run, until
from tests.lab.node_operator import Operator, Said
from tui.cli.main import main

_ENOUGH_S = 6
"""Recordings of so many seconds and more can be compared second by second."""
_RECORDINGS = 2
"""So often is recorded again what does not tell: the machine may be busy."""
_HARM = "drop|error|reassembly|lost"
"""What no other work on the machine does."""
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
        database: bool = False, record_s: int = 8,
    ) -> None:  # fmt: skip
        """`record_s` is how long each of the two recordings is, in seconds; too short ones tell nothing, which can be
        gone past."""
        self.directory = directory / "lab"
        self._compares = record_s >= _ENOUGH_S
        os.environ["RACWIRE_LAB_DIR"] = str(self.directory)
        self._operators: dict[str, Operator] = {}
        self.lab = racwire_lab.up(nodes=nodes, mtu=mtu, keeper=keeper, switch_mtu=switch_mtu, database=database)
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
        (bin_ / "racwire").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m tui "$@"\n')
        (bin_ / "racwire").chmod(0o755)
        self.environment = {"RACWIRE_SETTINGS": str(settings), "PATH": f"{bin_}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def end(self) -> None:
        """Take everything down."""
        os.environ["RACWIRE_LAB_DIR"] = str(self.directory)
        try:
            for operator in self._operators.values():
                operator.leave()
            racwire_lab.down()
        finally:
            del os.environ["RACWIRE_LAB_DIR"]

    # --- racwire ------------------------------------------------------------------------------------------------------

    def change(self, *words: str, node: str = "rac1", kill: str = "") -> Said:
        """`racwire change …`, typed on that node."""
        if node not in self._operators:
            self._operators[node] = Operator(self.lab, node, self.environment)
        return self._operators[node].type(["change", *words], kill)

    def begin(self, target: int = 9000) -> None:
        """Open the change."""
        said = self.change("new", "--to", str(target))
        assert said.code == 0, said.out + said.err

    def forget_change(self) -> None:
        """Throw the journals away: the next test begins with none."""
        for journal in self.changes.glob("*.change"):
            journal.unlink()

    @property
    def current(self) -> str:
        """The id of the step where the change stands; empty when all are done."""
        return str(self.change("status", "--format", "json").document["current"])

    def step(self) -> dict[str, Any]:
        """The current step, as `racwire change next` prints it."""
        steps = self.change("next", "--format", "json").document["steps"]
        return dict(steps[0])

    def verify(self, node: str = "rac1") -> dict[str, Any]:
        """Look at the gate; what came of it, with the exit code."""
        said = self.change("verify", "--format", "json", node=node)
        assert said.code in (0, 2, 3), said.err
        return {**said.document, "code": said.code}

    def report(self) -> ChangeReport:
        """The report, from its JSON."""
        return msgspec.json.decode(self.change("report", "--format", "json").out, type=ChangeReport)

    # --- the operator -------------------------------------------------------------------------------------------------

    def operate(self, step: dict[str, Any], nodes: Sequence[str] | None = None, but: str = "") -> None:
        """Run every command that a step prints, where it says; only on some nodes, or without those lines that hold
        the words `but`, where somebody forgets them. What is offered `if you like` is left out."""
        for block in step["commands"]:
            lines = [line for line in block["lines"] if not but or but not in line]
            if (nodes is not None and block["node"] not in nodes) or "if you" in block["where"]:
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
        if not any(line.startswith("racwire compare") for line in lines):  # its exit code says what it found
            assert done.returncode == 0, f"{node}: {done.args}\n{done.stdout}{done.stderr}"

    def outside(self, lines: Sequence[str]) -> None:
        """Type lines where the practice cluster was built: at its switch."""
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                assert words[0] == "racwire", line
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as told:
                    assert main(words[1:]) == 0, told.getvalue()

    def attest(self, step: dict[str, Any]) -> None:
        """Attest what is to be attested."""
        if "an attestation" in step["waits_for"] and self.current == step["id"]:
            said = self.change("attest", "--by", "Ann Lee of the DBAs")
            assert said.code == 0, said.err

    def walk(self, until_step: str = "", *, look_first: bool = False) -> None:
        """Do each step as it is printed, and prove it, up to that one; to the end where none is named.

        With `look_first`, a step that is so already is not done: on the way back much may never have been changed.
        """
        while (current := self.current) and current != until_step:
            step = self.step()
            if look_first and "its gate" in step["waits_for"] and self.verify()["passed"]:
                self.attest(step)
                continue
            self.operate(step)
            self.prove(step)

    def prove(self, step: dict[str, Any]) -> None:
        """Attest a step, and let its gate be looked at; it must pass."""
        if "its gate" in step["waits_for"]:
            verified = self.verify()
            again = _RECORDINGS if step["id"] == "baseline" or (step["id"] == "compare" and self._compares) else 0
            while not verified["passed"] and again:
                again -= 1
                self.record_again(step)
                verified = self.verify()
            if not verified["passed"] and step["id"] == "compare":
                self.weigh(verified["results"])
            else:
                assert verified["passed"], (step["id"], waiting(verified), verified["surprises"])
        self.attest(step)

    def record_again(self, step: dict[str, Any]) -> None:
        """As the gate of a recording asks for that is too short, or does not tell: the machine may be busy."""
        for block in step["commands"]:
            lines = [line.replace("racwire record", "racwire record --force") for line in block["lines"]]
            self.inside(block["node"] or self.nodes[0], [line for line in lines if "racwire record" in line])

    def weigh(self, results: Sequence[dict[str, Any]]) -> None:
        """Go past a comparison that cannot tell, since so short recordings on a busy machine do not; nothing in it may
        have got worse but how long a block took, which other work on the machine makes longer."""
        harm = [r.get("sentence", r["text"]) for r in results if r["status"] == "FAIL"]
        assert not [text for text in harm if "receive time" not in text or re.search(_HARM, text)], results
        said = self.change("override", "--by", "Ann Lee", "--reason", "The machine was busy with other work.")
        assert said.code == 0, said.err

    def mtu(self, node: str, interface: str = "eth1") -> int:
        """What an interface of a node has now."""
        return int(run(self.lab, node, "cat", f"/sys/class/net/{interface}/mtu").stdout)

    def _boot(self, node: str) -> str:
        path = self.directory / "nodes" / node / "booted"
        return path.read_text() if path.exists() else ""


def run_in(
    cluster: racwire_lab.Lab, node: str, script: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run lines in a shell of a node that stops at the first that fails."""
    return subprocess.run(
        cluster.enter(node, ["sh", "-e", "-c", script]),
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, **cluster.environment(node), **environment},
    )  # fmt: skip


def waiting(verified: dict[str, Any]) -> list[str]:
    """What does not let the next step come, as `kept-mtu rac2: eth1 of rac2 …`."""
    return [
        f"{r['check']} {r.get('node', '')}: {r.get('sentence', r['text'])}"
        for r in verified["results"]
        if r["status"] not in ("PASS", "INFO", "SKIPPED")
    ]

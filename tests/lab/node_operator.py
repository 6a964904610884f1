"""An operator who types racwire commands at a node of the practice cluster, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import racwire_lab

_DRIVER = Path(__file__).parent / "racwire_in_node.py"


@dataclass(frozen=True)
class CommandResult:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The output as JSON."""
        assert self.out, self.err
        return json.loads(self.out)


class Operator:
    """An operator who runs racwire on one node."""

    def __init__(self, cluster: racwire_lab.Lab, node: str, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            cluster.enter(node, [sys.executable, str(_DRIVER)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **cluster.environment(node), **environment},
        )

    def type(self, words: Sequence[str], kill: str = "") -> CommandResult:
        """Run a command to its end, or until it is killed with SIGKILL."""
        return self._order(words=list(words), kill=kill)

    def run(self, program: str) -> CommandResult:
        """Run lines of Python, for actions that no command offers."""
        return self._order(program=program)

    def _order(self, **order: object) -> CommandResult:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "Traceback" not in answer["err"], answer["err"]
        return CommandResult(**answer)

    def leave(self) -> None:
        """Log out."""
        self._process.kill()
        self._process.communicate()

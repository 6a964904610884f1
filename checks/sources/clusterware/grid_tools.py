"""Query the tools of a Grid home on this node, read-only: each has a time limit, and the journal has each answer."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from checks.model.facts import GridHome, ToolMessage, Unknown
from checks.model.journal import Journal
from checks.sources import grid_commands
from checks.sources.clusterware.grid_home import user_name
from checks.sources.clusterware.grid_tool_command import (
    CommandError,
    CommandOutput,
    NotPermittedError,
    TimedOutError,
    run_command,
)
from checks.sources.clusterware.tool_failure import ToolUser, explain_failure, is_stack_down, stack_down
from checks.sources.entries import GridCommand

_OUTPUT_LIMIT_BYTES = 1_000_000

T = TypeVar("T")


class GridTools:
    """The tools of one Grid home. The journal has each answer."""

    def __init__(
        self,
        home: GridHome,
        journal: Journal,
        local_host: str,
        environ: Mapping[str, str] = os.environ,
        timeout_s: float | None = None,
        *,
        sudo: bool = False,
    ) -> None:
        """`timeout_s` replaces the limit of each command; `sudo` permits `sudo -n` for tools that refuse this user."""
        self._sudo = sudo
        self._stopped: list[Unknown] = []
        self.home = home
        self._journal = journal
        self._local_host = local_host
        self._timeout_s = timeout_s
        self._tool_user = ToolUser(user_name(os.geteuid()), home.owner, _is_outsider(home))
        # The Grid tools must not use the libraries and messages of a database home from the operator's environment.
        self._environ = {name: value for name, value in environ.items() if not name.startswith("ORA_NLS")} | {
            "ORACLE_HOME": home.path,
            "LD_LIBRARY_PATH": f"{home.path}/lib",
        }

    async def ask(self, query: GridCommand, parse: Callable[[str], T | Unknown]) -> T | Unknown:
        """Run the query and return the parsed fact; Unknown, with the reason, where the query failed."""
        answer, _ = await self.ask_with_text(query, parse)
        return answer

    async def ask_with_text(self, query: GridCommand, parse: Callable[[str], T | Unknown]) -> tuple[T | Unknown, str]:
        """Run the query and return (fact, whole output of the command)."""
        argv = query.argv(self.home.path)
        answer, text = await self._run(query, argv, parse)
        # Nothing of a Grid home is run as root: its owner can replace these programs.
        can_sudo = self._sudo and self.home.owner not in ("", "root")
        if can_sudo and isinstance(answer, Unknown) and answer.right:
            return await self._run(query, ("sudo", "-n", "-u", self.home.owner, *argv), parse)
        return answer, text

    async def _run(
        self, query: GridCommand, argv: tuple[str, ...], parse: Callable[[str], T | Unknown]
    ) -> tuple[T | Unknown, str]:
        limit_s = self._timeout_s if self._timeout_s is not None else query.limit_s
        with self._journal.entry(self._local_host, query.topic, shlex.join(argv)) as entry:
            try:
                output = await run_command(argv, timeout_s=limit_s, env=self._environ, limit_bytes=_OUTPUT_LIMIT_BYTES)
            except NotPermittedError:
                entry.outcome = self._tool_user.not_permitted(query.command)
                return Unknown(entry.outcome, self._tool_user.right), ""
            except TimedOutError:
                entry.outcome = (
                    f"`{query.command}` did not end within {limit_s:g} s, and racwire killed it: Clusterware starts on "
                    "this node, or hangs. Try again in some minutes, and check its alert.log."
                )
                return Unknown(entry.outcome), ""
            except CommandError as error:
                entry.outcome = f"{error}."
                return Unknown(entry.outcome), ""
            entry.text = output.text
            answer = parse(output.text)
            if isinstance(answer, Unknown) and output.stderr.strip() and output.stdout.strip():
                # Noise on stderr, such as a library's warning, must not invalidate a complete answer on stdout.
                answer = parse(output.stdout)
            answer = self._judge(query, output, answer)
            if isinstance(answer, Unknown):
                entry.outcome = answer.reason
            return answer, output.text

    def _judge(self, query: GridCommand, output: CommandOutput, answer: T | Unknown) -> T | Unknown:
        """The answer of a command that was not interrupted; for an Unknown answer, the more specific reason."""
        silent_failure = output.exit_status > 0 and not output.text.strip()
        if isinstance(answer, Unknown) or output.exit_status < 0 or silent_failure:
            explained = explain_failure(query.command, output, self._tool_user)
            if explained and is_stack_down(output):
                self._stopped.append(explained)
            return explained or answer
        return answer

    def with_one_cause(self, answer: T | Unknown, services: tuple[ToolMessage, ...] | Unknown) -> T | Unknown:
        """Return the answer; where the tool failed because the stack is down, the one Unknown of all such tools.

        `services` is the answer of `crsctl check crs`, which knows best whether the stack is down.
        """
        if not isinstance(answer, Unknown) or answer not in self._stopped:
            return answer
        certain = None if isinstance(services, Unknown) else stack_down(grid_commands.SERVICES.command, services)
        return certain or (answer if answer.right else next(each for each in self._stopped if not each.right))


def _is_outsider(home: GridHome) -> bool:
    """Whether this user is neither root nor the Grid owner nor in the group of oifcfg."""
    user = os.geteuid()
    if user == 0 or user_name(user) == home.owner:
        return False
    try:
        group = Path(home.path, "bin", "oifcfg").stat().st_gid
    except OSError:
        return True
    return group not in (os.getegid(), *os.getgroups())

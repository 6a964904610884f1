"""The tools of a Grid home, asked on this node: each bounded in time, each answer recorded, none of them a change."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from checks.model.facts import GridHome, Unknown
from checks.model.journal import Journal
from checks.sources.clusterware.grid_home import user_name
from checks.sources.clusterware.grid_tool_command import (
    CommandError,
    CommandOutput,
    NotPermittedError,
    TimedOutError,
    run_command,
)
from checks.sources.clusterware.tool_failure import Asker, explain_failure
from checks.sources.entries import GridCommand

_OUTPUT_LIMIT_BYTES = 1_000_000

T = TypeVar("T")


class GridTools:
    """The tools of one Grid home, each answer recorded."""

    def __init__(
        self,
        home: GridHome,
        journal: Journal,
        local_host: str,
        environ: Mapping[str, str],
        timeout_s: float | None = None,
    ) -> None:
        """`timeout_s` stands in place of the limit of each command."""
        self._home = home
        self._journal = journal
        self._local_host = local_host
        self._timeout_s = timeout_s
        self._asker = Asker(user_name(os.geteuid()), home.owner, _is_outsider(home))
        # A session set up for a database home must not lend its libraries and messages to the Grid tools.
        self._environ = {name: value for name, value in environ.items() if not name.startswith("ORA_NLS")} | {
            "ORACLE_HOME": home.path,
            "LD_LIBRARY_PATH": f"{home.path}/lib",
        }

    async def ask(self, query: GridCommand, parse: Callable[[str], T | Unknown]) -> T | Unknown:
        """The fact that the command's answer holds, or why there is none."""
        answer, _ = await self.ask_with_text(query, parse)
        return answer

    async def ask_with_text(self, query: GridCommand, parse: Callable[[str], T | Unknown]) -> tuple[T | Unknown, str]:
        """The fact, and all that the command printed."""
        argv = query.argv(self._home.path)
        limit_s = self._timeout_s if self._timeout_s is not None else query.limit_s
        with self._journal.entry(self._local_host, query.topic, shlex.join(argv)) as entry:
            try:
                output = await run_command(argv, timeout_s=limit_s, env=self._environ, limit_bytes=_OUTPUT_LIMIT_BYTES)
            except NotPermittedError:
                entry.outcome = self._asker.not_permitted(query.command)
                return Unknown(entry.outcome), ""
            except TimedOutError:
                entry.outcome = (
                    f"`{query.command}` timed out after {limit_s:g} s and was killed: Clusterware may hang "
                    "on this node; its alert.log says since when."
                )
                return Unknown(entry.outcome), ""
            except CommandError as error:
                entry.outcome = f"{error}."
                return Unknown(entry.outcome), ""
            entry.text = output.text
            answer = parse(output.text)
            if isinstance(answer, Unknown) and output.stderr.strip() and output.stdout.strip():
                # Noise on stderr, such as a library's warning, spoils no answer that is whole without it.
                answer = parse(output.stdout)
            answer = self._judge(query, output, answer)
            if isinstance(answer, Unknown):
                entry.outcome = answer.reason
            return answer, output.text

    def _judge(self, query: GridCommand, output: CommandOutput, answer: T | Unknown) -> T | Unknown:
        """The answer, unless the command was cut off in the midst of it; for an Unknown one, the better reason."""
        silent_failure = output.exit_status > 0 and not output.text.strip()
        if isinstance(answer, Unknown) or output.exit_status < 0 or silent_failure:
            reason = explain_failure(query.command, output, self._asker)
            return Unknown(reason) if reason else answer
        return answer


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

"""The completion of a shell: commands, options, and the values that each takes, all known when it is made.

The scripts start no racwire and read no cluster: they offer no names of nodes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import cache

import shtab

from docs.share.parsers import below, complete_parser

SHELLS = {
    "bash": "bash-completion/completions/racwire",
    "zsh": "zsh/site-functions/_racwire",
    "fish": "fish/vendor_completions.d/racwire.fish",
}
"""The file of each shell below a directory such as /usr/share."""

_EVIDENCE = shtab.glob("*.racwire", "*.json", "*.rec")
_OF_EVIDENCE = {("", "from_file"), ("open", "file"), ("diff", "before"), ("diff", "after"), ("explain", "report")}
"""Arguments that take saved files, reports or recordings: the command (empty: any), and the argument."""


def completion(shell: str) -> str:
    """Return the script of a shell."""
    root = complete_parser()
    _add_help(root)
    for parser in below(root):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action._choices_actions:  # their descriptions go on in a second line
                    action.choices[command.dest].description = command.help
            _say_what_fits(parser.prog.removeprefix("racwire ").partition(" ")[0], action)
    # For zsh, shtab offers only the first of several positional values.
    return shtab.complete(root, shell).replace('"(*)::', '"*:') + "\n"


def _add_help(root: argparse.ArgumentParser) -> None:
    """Add `racwire help`, which is no command of its own: it becomes --help or explain."""
    commands = next(action for action in root._actions if isinstance(action, argparse._SubParsersAction))
    # The codes too would be half of the script.
    topics = [*commands.choices, *(name for name in _values()["explain", "what"] if name.islower())]
    commands.add_parser("help", help="explain a command or a topic").add_argument("topic", choices=topics, nargs="?")


def _say_what_fits(command: str, action: argparse.Action) -> None:
    """Tell shtab which values an argument takes."""
    if action.choices or action.nargs == 0:
        return
    if values := _values().get((command, action.dest), _values().get(("", action.dest))):
        action.choices = values
    elif {(command, action.dest), ("", action.dest)} & _OF_EVIDENCE:
        action.complete = _EVIDENCE  # type: ignore[attr-defined]
    elif action.metavar in ("FILE", "JOURNAL", "REC", "BEFORE", "AFTER", ("BEFORE", "AFTER")):
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.metavar == "DIR":
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]


@cache
def _values() -> Mapping[tuple[str, str], Iterable[str]]:
    """Return the values that an argument takes, by the command (empty: any) and the argument."""
    from checks.change.kinds.descriptions import DESCRIPTIONS
    from checks.change.plan import codes
    from checks.model.vendors import known_kinds
    from checks.run.check_discovery import discover
    from racwire_lab import FAULTS
    from tui.cli.explain import explainable

    checks, kinds = discover(), known_kinds()
    ids = [check.id for check in checks.every]
    names = explainable(argparse.Namespace(settings="/dev/null"))  # not those of the settings of who builds it
    return {
        ("", "ids"): ids,
        ("plan", "ids"): [*ids, "measure", "drill", "investigate"],
        ("", "skip"): ids,
        ("", "mode"): ("0600", "0640", "0644"),
        ("explain", "what"): [name for name in names if name.split() == [name]],
        ("waive", "code"): list(checks.kinds()),
        ("change", "kind"): [kind.name for kind in DESCRIPTIONS],
        ("change", "switch"): list(kinds.switches),
        ("change", "hypervisor"): [*kinds.hypervisors, "none"],
        ("change", "despite"): [kind.code for kind in codes.KINDS],
        ("lab", "fault"): list(FAULTS),
    }

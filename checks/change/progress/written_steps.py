"""Next steps as texts: write them from remedies, and read the commands of `racwire change` back from sentences.

Journals hold next steps as texts only. Views that show other commands, or keys, parse the texts with these functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from checks.model.finding import NextStep

_NAMES = "new|next|verify|attest|override|note|rollback|abandon|report|list"
_SHARED = re.compile(
    r"\bracwire change (?P<name>next|verify|attest|override|note|rollback|abandon|report|status|list)\b"
)
_OF_EXPERIMENTS = re.compile(rf"\bracwire experiment (?P<name>{_NAMES}|status)\b")
_COMMAND = re.compile(rf"\bracwire change (?P<name>{_NAMES})\b")
_QUOTED = re.compile(f"`{_COMMAND.pattern}`")


def written(remedies: Iterable[NextStep]) -> Iterator[str]:
    """Yield the texts of next steps: each sentence; a sentence with commands ends with a colon, its commands follow."""
    for remedy in remedies:
        where = f" ({remedy.where})" if remedy.where else ""
        yield f"{remedy.advice.rstrip('.:')}{where}{':' if remedy.commands else '.'}"
        yield from remedy.commands


def grouped(steps: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each sentence of `written` with its commands: the texts after a final colon, up to the next sentence."""
    groups: list[tuple[str, list[str]]] = []
    for text in steps:
        is_command = bool(groups) and groups[-1][0].endswith(":") and not text.endswith((".", ":"))
        if is_command:
            groups[-1][1].append(text)
        else:
            groups.append((text, []))
    yield from groups


def with_options(text: str, options: str) -> str:
    """Return the text with `options` added to each `racwire change` command: ` --file X` after its name."""
    return _COMMAND.sub(lambda found: f"{found[0]}{options}", text)


def of_experiment(text: str, options: str) -> str:
    """Return the text with `racwire experiment` in place of `racwire change`, and `options` after each such command.

    The commands that open a change stay: an experiment leads to a change of its own.
    """
    renamed = _SHARED.sub(lambda found: f"racwire experiment {found['name']}", text)
    return _OF_EXPERIMENTS.sub(lambda found: f"{found[0]}{options}", renamed)


def with_keys(text: str, keys: Mapping[str, str]) -> str:
    """Return the sentence with keys in place of commands in backquotes: `v` for ``racwire change verify``."""
    return _QUOTED.sub(lambda found: keys.get(found["name"], found[0]), text)


def name_of(command: str) -> str:
    """Return the name of a `racwire change` command, such as `verify`; empty for any other command."""
    found = _COMMAND.match(command)
    return found["name"] if found else ""

"""How a change writes down what to do, and reads it back: next steps as texts, commands inside sentences.

Journals hold next steps as texts only. Whoever shows them with other commands, or with keys, reads them here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from checks.model.finding import Remedy

_NAMES = "new|next|verify|attest|override|note|rollback|abandon|report|list"
_COMMAND = re.compile(rf"\bracwire change (?P<name>{_NAMES})\b")
_QUOTED = re.compile(f"`{_COMMAND.pattern}`")


def written(remedies: Iterable[Remedy]) -> Iterator[str]:
    """Next steps as texts: each sentence, and after one that ends with a colon its commands."""
    for remedy in remedies:
        where = f" ({remedy.where})" if remedy.where else ""
        yield f"{remedy.text.rstrip('.:')}{where}{':' if remedy.commands else '.'}"
        yield from remedy.commands


def grouped(steps: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each sentence of `written` with its commands: those after one that ends with a colon, up to the next sentence."""
    groups: list[tuple[str, list[str]]] = []
    for text in steps:
        is_command = bool(groups) and groups[-1][0].endswith(":") and not text.endswith((".", ":"))
        if is_command:
            groups[-1][1].append(text)
        else:
            groups.append((text, []))
    yield from groups


def with_options(text: str, options: str) -> str:
    """The text with these options in each command of `racwire change`: ` --file X` after `racwire change verify`."""
    return _COMMAND.sub(lambda found: f"{found[0]}{options}", text)


def with_keys(text: str, keys: Mapping[str, str]) -> str:
    """The sentence with keys in place of commands in backquotes: `v` for ``racwire change verify``, by the name."""
    return _QUOTED.sub(lambda found: keys.get(found["name"], found[0]), text)


def name_of(command: str) -> str:
    """Which command of `racwire change` a command to copy is: `verify`; empty where it is another command."""
    found = _COMMAND.match(command)
    return found["name"] if found else ""

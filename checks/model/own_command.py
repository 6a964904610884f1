"""racwire's own commands about what is open, as data in sentences and next steps: each view writes them in its own way.

The command line adds the options that select the journal, an experiment names its own program, and a screen has keys.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

CHANGE, EXPERIMENT = "change", "experiment"
"""The programs that open a journal."""


class OwnCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command such as `racwire change verify`."""

    name: str = ""
    """`verify`, `next`; empty for the program alone, which opens the console."""
    arguments: str = ""
    """What follows the name: `--by NAME --reason TEXT`."""
    program: str = ""
    """`change` or `experiment`; empty for the one that opened the journal."""

    def line(self, program: str = CHANGE, options: str = "") -> str:
        """Return the command line, for a journal that `program` opened, with `options` at its end."""
        words = ("racwire", self.program or program, self.name, self.arguments, options)
        return " ".join(word for word in words if word)


VERIFY = OwnCommand("verify")

Text = str | tuple[str | OwnCommand, ...]
"""A text, or its parts: sentences, and the commands in them."""


def written(text: Text, write: Callable[[OwnCommand], str] = lambda command: f"`{command.line()}`") -> str:
    """Return the text with its commands as `write` has them; without `write`, as they are typed in a plain change."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else write(part) for part in text)


def joined(*texts: Text) -> Text:
    """Return the texts as one, with a space between them; empty ones are left out."""
    parts: list[str | OwnCommand] = []
    for text in filter(None, texts):
        for part in (*((" ",) if parts else ()), *((text,) if isinstance(text, str) else text)):
            if parts and isinstance(part, str) and isinstance(last := parts[-1], str):
                parts[-1] = last + part
            else:
                parts.append(part)
    return tuple(parts) if any(isinstance(part, OwnCommand) for part in parts) else "".join(map(str, parts))

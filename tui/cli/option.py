"""One option of the command line, declared once: its help, its default, and how its text is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

UNSET = argparse.SUPPRESS
"""The default of options that may precede the command: a default of the command must not overwrite their value."""


class Option(NamedTuple):
    """An option of the command line, and the setting that it overrides, if any."""

    name: str
    help: str
    """`{default}` stands for the default."""
    metavar: str | None = None
    """None for an option without a value, which sets its setting to `means`, and for an option with `choices`."""
    default: str | None = None
    """What applies without the option, as it is typed. Of a setting it is only printed, and equals the setting's."""
    reads: Callable[[str, str], Any] | None = None
    """Returns the value of the text and the option's name; None: the text is the value. Raises UsageError."""
    place: str = ""
    """`section.name` of the setting; empty for an option of a command alone."""
    is_repeatable: bool = False
    choices: tuple[str, ...] = ()
    means: bool = True
    attribute: str = ""
    """In the parsed arguments; empty: as the name."""
    short: str = ""
    """The option with one letter; empty: none."""

    @property
    def destination(self) -> str:
        """The attribute of this option in the parsed arguments."""
        return self.attribute or self.name.lstrip("-").replace("-", "_")

    def read(self, text: str) -> Any:
        """Return the value of a text. Raises UsageError."""
        return text if self.reads is None else self.reads(text, self.name)

    def is_used(self, args: argparse.Namespace) -> bool:
        """Return whether the arguments differ from the default."""
        value = getattr(args, self.destination)
        return bool(value) if self.default is None else bool(value != self.read(self.default))


def declare(options: argparse._ActionsContainer, declared: Iterable[Option]) -> None:
    """Add options. Those of a setting have no attribute in the parsed arguments where they are not typed."""
    for option in declared:
        how: dict[str, Any] = {"help": option.help.format(default=option.default)}
        if option.metavar is None and not option.choices:
            how |= {"action": "store_true", "default": False}
        else:
            how |= {"metavar": option.metavar, "choices": option.choices or None, "type": option.read}
            how |= {"action": "append", "default": []} if option.is_repeatable else {"default": option.default}
        if option.place:
            how["default"] = UNSET
        if option.name.startswith("-"):
            options.add_argument(*filter(None, (option.short, option.name)), dest=option.destination, **how)
        else:
            options.add_argument(option.destination, **how)

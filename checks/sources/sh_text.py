"""Compose programs of plain `sh`: sections between marks, and allow-listed lines of files. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping

TIMED_OUT, NOT_FOUND = 124, 127
"""Exit statuses: of the program timeout, and of a shell for a program that is not there."""
MARK = "##racwire"
FILE_MARK = f"{MARK}-file"
"""The prefix of the line that names a file, before its printed lines; see `files_program`."""
UNREADABLE = f"{MARK}-unreadable"
MASKED = f"{MARK}-masked"


def program(commands: Mapping[str, str], with_errors: Collection[str] = ()) -> str:
    """A program that runs each command between two marks. Sections in `with_errors` print their errors too."""
    return "\n".join(
        f"printf '\\n{MARK} {section}\\n'\n"
        f"({command}) {'2>&1' if section in with_errors else '2>/dev/null'}\n"
        f"printf '\\n{MARK} end %s\\n' $?"
        for section, command in commands.items()
    )


def files_program(patterns: str, wanted: str, *, executable: bool = False) -> str:
    """A command that prints the lines that match `wanted`, for each file that the shell patterns name.

    `wanted` is an expression of `grep -E` in single quotes, an allow-list, so that the command never prints a secret.
    `executable` leaves out files that are not executable, for scripts that run only then. The command names a
    directory, from the patterns or above them, only where this user cannot list or enter it, because its contents are
    then not known.
    """
    lines = f"grep -E '{wanted}' \"$file\""
    unreadable = f"printf '{UNREADABLE}\\n'"
    name = f"printf '{FILE_MARK} %s\\n' \"$file\""
    is_meant = '[ -f "$file" ]' + (' && [ -x "$file" ]' if executable else "")
    closed = '[ -d "$up" ] && { [ ! -r "$up" ] || [ ! -x "$up" ]; }'
    name_closed = f"if {closed}; then printf '{FILE_MARK} %s\\n' \"$up\"; {unreadable}; fi"
    return (
        f"for file in {patterns}; do if {is_meant}; then {name}; "
        f'if [ -r "$file" ]; then {lines}; else {unreadable}; fi; '
        f'elif [ -d "$file" ]; then up=$file; {name_closed}; '
        f'elif [ -e "$file" ]; then if [ ! -f "$file" ]; then {name}; printf \'{MASKED}\\n\'; fi; '
        f"else up=${{file%/*}}; {name_closed}; fi; done"
    )

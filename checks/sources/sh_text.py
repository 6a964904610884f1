"""How programs of plain `sh` are put together: sections between marks, and the chosen lines of files. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping

MARK = "##racwire"
FILE_MARK = f"{MARK}-file"
"""Begins the line that names a file whose chosen lines follow; see `files_program`."""
UNREADABLE = f"{MARK}-unreadable"
MASKED = f"{MARK}-masked"


def program(commands: Mapping[str, str], says_why: Collection[str] = ()) -> str:
    """The program that runs each command between two marks. Those in `says_why` tell their errors too."""
    return "\n".join(
        f"printf '\\n{MARK} {section}\\n'\n"
        f"({command}) {'2>&1' if section in says_why else '2>/dev/null'}\n"
        f"printf '\\n{MARK} end %s\\n' $?"
        for section, command in commands.items()
    )


def files_program(patterns: str, wanted: str, *, unwanted: str = "", executable: bool = False) -> str:
    """A command that prints, of each file that the shell patterns name, the lines that the expression `wanted` matches.

    `wanted` is for `grep -E`, between single quotes: an allow-list, so that no secret of such a file is ever printed;
    lines that match `unwanted`, in either case, are left out all the same. `executable` leaves out what is not, for
    scripts that are run only then. A directory among the patterns is named only where it may not be read: then nobody
    knows what lies in it.
    """
    lines = f"grep -E '{wanted}' \"$file\"" + (f" | grep -v -i -E '{unwanted}'" if unwanted else "")
    unreadable = f"printf '{UNREADABLE}\\n'"
    name = f"printf '{FILE_MARK} %s\\n' \"$file\""
    is_meant = '[ -f "$file" ]' + (' && [ -x "$file" ]' if executable else "")
    return (
        f"for file in {patterns}; do if {is_meant}; then {name}; "
        f'if [ -r "$file" ]; then {lines}; else {unreadable}; fi; '
        f'elif [ -d "$file" ]; then if [ ! -r "$file" ]; then {name}; {unreadable}; fi; '
        f'elif [ ! -f "$file" ] && [ -e "$file" ]; then {name}; printf \'{MASKED}\\n\'; fi; done'
    )

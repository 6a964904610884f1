"""One program of plain `sh` that reads many things in one trip, and its answer cut into sections again. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

MARK = "##racwire"
FILE_MARK = f"{MARK}-file"
"""Begins the line that names a file whose chosen lines follow; see `files_program`."""
_UNREADABLE = f"{MARK}-unreadable"
_MASKED = f"{MARK}-masked"


@dataclass(frozen=True, slots=True)
class Section:
    """What one command printed, and its exit status."""

    text: str = ""
    exit_status: int = 0


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The lines of a file that were asked for; never the whole file, which can hold secrets."""

    path: str
    lines: tuple[str, ...] = ()
    is_readable: bool = True
    """False where this user may not read it; then `lines` is empty. A path can be a directory that may not be read."""
    is_masked: bool = False
    """Whether it is no file but a link to /dev/null, which says: as if there were none of this name."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def directory(self) -> str:
        """All before the last part of the path."""
        return self.path.rpartition("/")[0]


def program(commands: Mapping[str, str], says_why: Collection[str] = ()) -> str:
    """The program that runs each command between two marks. Those in `says_why` tell their errors too."""
    return "\n".join(
        f"printf '\\n{MARK} {section}\\n'\n"
        f"({command}) {'2>&1' if section in says_why else '2>/dev/null'}\n"
        f"printf '\\n{MARK} end %s\\n' $?"
        for section, command in commands.items()
    )


def sections(text: str) -> dict[str, Section]:
    """The sections of an answer by name; one that was not ended has no say."""
    found: dict[str, Section] = {}
    name = ""
    lines: list[str] = []
    for line in text.split("\n"):
        mark, _, rest = line.partition(" ")
        if mark != MARK:
            lines.append(line)
        elif rest.startswith("end "):
            status = rest.removeprefix("end ")
            if name:
                found[name] = Section("\n".join(lines).strip("\n"), _status(status))
            name = ""
        else:
            name, lines = rest, []
    return found


def _status(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < len("1000") else 255


def files_program(patterns: str, wanted: str, *, unwanted: str = "", executable: bool = False) -> str:
    """A command that prints, of each file that the shell patterns name, the lines that the expression `wanted` matches.

    `wanted` is for `grep -E`, between single quotes: an allow-list, so that no secret of such a file is ever printed;
    lines that match `unwanted`, in either case, are left out all the same. `executable` leaves out what is not, for
    scripts that are run only then. A directory among the patterns is named only where it may not be read: then nobody
    knows what lies in it.
    """
    lines = f"grep -E '{wanted}' \"$file\"" + (f" | grep -v -i -E '{unwanted}'" if unwanted else "")
    unreadable = f"printf '{_UNREADABLE}\\n'"
    name = f"printf '{FILE_MARK} %s\\n' \"$file\""
    is_meant = '[ -f "$file" ]' + (' && [ -x "$file" ]' if executable else "")
    return (
        f"for file in {patterns}; do if {is_meant}; then {name}; "
        f'if [ -r "$file" ]; then {lines}; else {unreadable}; fi; '
        f'elif [ -d "$file" ]; then if [ ! -r "$file" ]; then {name}; {unreadable}; fi; '
        f'elif [ ! -f "$file" ] && [ -e "$file" ]; then {name}; printf \'{_MASKED}\\n\'; fi; done'
    )


def config_files(text: str) -> tuple[ConfigFile, ...]:
    """The files of a section that `files_program` printed, in its order."""
    return tuple(_config_files(text))


def grepped_files(text: str) -> tuple[ConfigFile, ...]:
    """The files of a section that `grep -H` printed: path, colon, line."""
    files: dict[str, list[str]] = {}
    for line in text.split("\n"):
        path, colon, rest = line.partition(":")
        if colon and path.startswith("/") and rest.strip():
            files.setdefault(path, []).append(rest.rstrip("\r"))
    return tuple(ConfigFile(path, tuple(lines)) for path, lines in files.items())


def _config_files(text: str) -> Iterator[ConfigFile]:
    path = ""
    lines: list[str] = []
    for line in [*text.split("\n"), f"{FILE_MARK} "]:
        mark, _, rest = line.partition(" ")
        if mark != FILE_MARK:
            lines.append(line.rstrip("\r"))
            continue
        if path:
            told = tuple(line for line in lines if line.strip() and line not in (_UNREADABLE, _MASKED))
            is_readable = _UNREADABLE not in lines
            yield ConfigFile(path, told if is_readable else (), is_readable, _MASKED in lines)
        path, lines = rest, []

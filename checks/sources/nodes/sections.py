"""Split the answer of a program into its sections. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.sources.sh_text import FILE_MARK, MARK, MASKED, UNREADABLE


@dataclass(frozen=True, slots=True)
class OutputSection:
    """The output of one command, and its exit status."""

    text: str = ""
    exit_status: int = 0


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The requested lines of a file; never the whole file, because it can hold secrets."""

    path: str
    lines: tuple[str, ...] = ()
    is_readable: bool = True
    """False where this user may not read it; then `lines` is empty. The path can also be an unreadable directory."""
    is_masked: bool = False
    """Whether it is a link to /dev/null, which masks all files of this name."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def directory(self) -> str:
        """The path without its last part."""
        return self.path.rpartition("/")[0]


def sections(text: str) -> dict[str, OutputSection]:
    """The sections of an answer by name, without a section that has no end mark."""
    return dict(section_list(text))


def section_list(text: str) -> tuple[tuple[str, OutputSection], ...]:
    """The (name, section) pairs of an answer in its order, for programs that repeat a name."""
    found: list[tuple[str, OutputSection]] = []
    name = ""
    lines: list[str] = []
    for line in text.split("\n"):
        mark, _, rest = line.partition(" ")
        if mark != MARK:
            lines.append(line)
        elif rest.startswith("end "):
            status = rest.removeprefix("end ")
            if name:
                found.append((name, OutputSection("\n".join(lines).strip("\n"), exit_status(status))))
            name = ""
        else:
            name, lines = rest, []
    return tuple(found)


def exit_status(text: str | bytes) -> int:
    """The exit status that a shell printed; 255 for other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < len("1000") else 255


def config_files(text: str) -> tuple[ConfigFile, ...]:
    """The files of a section that `files_program` printed, in its order, each path once."""
    return tuple({file.path: file for file in _config_files(text)}.values())


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
            printed = tuple(line for line in lines if line.strip() and line not in (UNREADABLE, MASKED))
            is_readable = UNREADABLE not in lines
            yield ConfigFile(path, printed if is_readable else (), is_readable, MASKED in lines)
        path, lines = rest, []

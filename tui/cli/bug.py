"""`racwire bug`: what a bug report needs, in one text without names, addresses, paths or secrets.

Nothing is searched for names: a value is printed only where it is a number, or one of the few that racwire itself or a
vendor defines. All else is left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from tui.cli.document import Handout, chosen_output
from tui.cli.options import add_output_options, add_settings_option

if TYPE_CHECKING:
    from checks.model.settings import Settings

LEFT_OUT = "..."
_PACKAGES = (
    *("checks", "tui", "racwire_lab"),
    *("textual", "rich", "msgspec", "oracledb", "pyroute2", "asyncio", "json"),
)
"""Packages whose files and exceptions are named; other code is the site's."""
_EPILOG = """\
The text has no names, addresses, paths or passwords: read it all the same
before you send it. Of a command line it shows the commands and options, of
the last internal error the places in racwire's code, of the settings what is
not the default; `...` stands for what was left out.

examples:
  racwire bug -o bug.txt
  racwire bug -- check df-ping --connect rac-scan:1521/prod
                                       with the command line that failed
  racwire save --redact bug.racwire    the evidence, if the report needs it

exit codes: 0 printed, 3 the text could not be written, 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print what a bug report needs, without names, addresses and passwords."
    parser.epilog = _EPILOG
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command line that failed")
    add_output_options(parser)
    add_settings_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the text. Raises UsageError where it cannot be written to the file."""
    output = chosen_output(args)
    text = bug_text(args.words, getattr(args, "settings", None))
    return Handout("text", text.encode, lambda _: text, ".txt").deliver(output, 0)


_wrapped = partial(
    textwrap.wrap,
    width=80,
    initial_indent="  ",
    subsequent_indent="  ",
    break_long_words=False,
    break_on_hyphens=False,
)


def bug_text(words: Sequence[str] = (), settings_file: str | None = None) -> str:
    """Return the text for a command line that failed. What cannot be found out is named as such."""
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "Command line": lambda: _command_line(words),
        "Last internal error": _last_error,
        "Versions": _versions,
        "Terminal": lambda: _terminal(os.environ),
        "Settings that are not the default": lambda: _settings(settings_file, os.environ),
        "Where to send it": _where_to,
    }
    lines = ["What happened, and what did you expect? (Write it here, without names.)", ""]
    for title, part in parts.items():
        try:
            found = [*part()]
        except Exception as error:  # the report of a fault must not fail by the same fault
            found = [f"not found out: {_known_error(type(error).__name__)}"]
        lines += [title, *(shown for line in found for shown in _wrapped(line)), ""]
    return "\n".join(lines[:-1]) + "\n"


def _command_line(words: Sequence[str]) -> Iterator[str]:
    typed = list(words)
    while typed[:1] in (["--"], ["racwire"]):
        del typed[0]
    yield " ".join(("racwire", *shown_words(typed))) if words else "none given: `racwire bug -- COMMAND ...`"


def shown_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the commands, options, choices and checks of a command line, and `...` for each other word."""
    from checks.run.check_discovery import discover
    from tui.cli.main import build_parser

    built_in = {check.id for check in discover().every if check.run.__module__.startswith("checks.")}
    parser: argparse.ArgumentParser = build_parser(words)
    rest = iter(words)
    for word in rest:
        name, is_inline, value = word.partition("=")
        if option := parser._option_string_actions.get(name):
            yield name
            if option.nargs != 0:
                value = value if is_inline else next(rest, "")
                yield value if value in (option.choices or ()) else LEFT_OUT
            continue
        choices = [action for action in parser._actions if not action.option_strings and word in (action.choices or ())]
        for action in choices:
            if isinstance(action, argparse._SubParsersAction):
                parser = action.choices[word]
        yield word if choices or word in built_in else LEFT_OUT


def _last_error() -> Iterator[str]:
    from checks.run.directories import state_directory
    from tui.cli.log_file import log_path

    try:
        with log_path(state_directory()).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 100_000))
            log = file.read().decode(errors="replace")
    except FileNotFoundError:
        log = ""
    yield from shown_traceback(log) or ["none in the log"]


def shown_traceback(log: str) -> list[str]:
    """Return the last traceback of a log, without the texts of errors; empty where there is none."""
    _, found, last = log.rpartition("Traceback (most recent call last):\n")
    lines = []
    for line in last.splitlines() if found else ():
        if frame := re.fullmatch(r'  File "(.+)", line (\d+), in (\S+)', line):
            place = next((place for root in _roots() if (place := _own_file(frame[1], root))), "")
            lines.append(f"{place} line {frame[2]}, {frame[3]}" if place else LEFT_OUT)
        elif not line.startswith(" "):
            lines.append(_known_error(line.partition(":")[0]))
            break
    return [line for at, line in enumerate(lines) if lines[at - 1 : at] != [LEFT_OUT] or line != LEFT_OUT]


def _roots() -> set[str]:
    import checks

    return {str(Path(checks.__file__).parents[1]), sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")}


def _own_file(path: str, root: str) -> str:
    """Return the path below the root where it is a file of the known packages; else empty."""
    own = path.removeprefix(f"{root}/")
    return own if own != path and own.partition("/")[0] in _PACKAGES and Path(path).is_file() else ""


def _known_error(name: str) -> str:
    """Return the name of an exception of Python or of the known packages; that of other code is left out."""
    module, _, own = name.strip().rpartition(".")
    if module.partition(".")[0] in ("", *_PACKAGES):
        with suppress(ImportError):
            if hasattr(import_module(module or "builtins"), own):
                return name
    return "an error of other code"


def _versions() -> Iterator[str]:
    from checks.run.check_discovery import discover
    from checks.run.versions import versions

    found = versions()
    first = {name: found.pop(name) for name in ("racwire", "python", "kernel")}
    yield ", ".join(f"{name} {_plain(version)}" for name, version in first.items()) + f", {found.pop('machine')}"
    yield ", ".join(f"{name} {_plain(version)}" for name, version in found.items())
    system = platform.freedesktop_os_release()
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else "libc not known"
    yield f"{_plain(system['ID'])} {_plain(system.get('VERSION_ID', ''))}, {libc}, systemd {_systemd()}"
    checks = discover()
    own = sum(check.run.__module__.startswith("checks.") for check in checks.every)
    yield f"checks: {own} of racwire, {len(checks.every) - own} of other packages, {len(checks.broken)} not loaded"
    yield f"user: {'root' if os.getuid() == 0 else 'not root'}"


def _plain(version: str) -> str:
    """Return the numbers of a version, and the words of distributions: a kernel that a site built can have its name."""
    return "".join(part if _VERSION_PART.fullmatch(part) else LEFT_OUT for part in re.split(r"([.+-])", version))


_VERSION_PART = re.compile(
    r"[.+-]?|\d+[a-z]{0,2}\d*|el\d+(?:uek|_\d+)?|fc\d+|deb\d+u\d+|x86_64|aarch64|amd64|generic|cloud|not installed"
    r"|ol|rhel|centos|rocky|almalinux|fedora|debian|ubuntu|sles|opensuse|leap"
)


def _systemd() -> str:
    """Return the version of systemd, from the name of its library; no program is started."""
    names = [
        path.name
        for pattern in ("systemd", "*/systemd")
        for path in Path("/usr/lib").glob(f"{pattern}/libsystemd-shared-*")
    ]
    found = re.search(r"-(\d+)", "".join(names[:1]))
    return found[1] if found else "not known"


def _terminal(environ: Mapping[str, str]) -> Iterator[str]:
    size = shutil.get_terminal_size()
    inside = [name for variable, name in _AROUND.items() if environ.get(variable)]
    yield ", ".join(
        (f"{size.columns}x{size.lines}", f"stdout is {'a' if sys.stdout.isatty() else 'no'} terminal", *inside)
    )
    for variable, form in _FORMS.items():
        if variable in environ:
            yield f"{variable}={environ[variable] if re.fullmatch(form, environ[variable]) else LEFT_OUT}"
    yield f"encoding of stdout: {sys.stdout.encoding}"


_AROUND = {"TMUX": "tmux", "STY": "screen", "SSH_CONNECTION": "ssh", "SUDO_USER": "sudo"}
_LOCALE = r"(?:C|POSIX|[a-z]{2,3}_[A-Z]{2})?(?:\.(?:UTF-?8|utf-?8|ISO-?8859-?\d+|iso8859\d+))?"
_FORMS = {
    "TERM": r"(?:xterm|screen|tmux|linux|vt\d+|ansi|dumb|putty|rxvt|alacritty)?(?:-(?:\d+color|direct|kitty))*",
    **dict.fromkeys(("LANG", "LC_ALL", "LC_CTYPE"), _LOCALE),
    **dict.fromkeys(("COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"), r"truecolor|24bit|\d?|true|yes"),
    **dict.fromkeys(("COLUMNS", "LINES"), r"\d{0,4}"),
}
"""Variables that decide how racwire looks, and the values that identify no one."""


def _settings(settings_file: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    from checks.run.settings_file import SYSTEM_PATH, SettingsError, default_path, load_settings

    read = {"the file of all users": SYSTEM_PATH, "your own file": default_path()}
    names = (
        [name for name, path in read.items() if path.exists()] if settings_file is None else ["a file of --settings"]
    )
    yield f"read from: {', '.join(names) or 'no file'}; {sum(n.startswith('RACWIRE_') for n in environ)} variables"
    try:
        yield from shown_settings(load_settings(settings_file, environ))
    except SettingsError:
        yield "they have a mistake, which each command reports"


def shown_settings(settings: Settings) -> Iterator[str]:
    """Yield the settings that are not the default: numbers, yes and no, and racwire's own words; of others how many."""
    import msgspec

    from checks.model.settings import Settings as Sections
    from checks.run.settings_file import choices, toml

    for section in msgspec.structs.fields(Sections):
        table: Any = getattr(settings, section.name)
        if isinstance(table, tuple):
            if table:
                yield f"{section.name}: {len(table)}"
            continue
        kinds = get_type_hints(type(table))
        for field in msgspec.structs.fields(type(table)):
            value = getattr(table, field.name)
            if value == field.default:
                continue
            is_shown = isinstance(value, (int, float)) or value in choices(kinds[field.name])
            what = toml(value) if is_shown else f"{len(value)} given" if isinstance(value, tuple) else "given"
            yield f"{section.name}.{field.name} = {what}"


def _where_to() -> Iterator[str]:
    from importlib.metadata import metadata

    urls = dict(url.split(", ", 1) for url in metadata("racwire").get_all("Project-URL") or ())
    issues = urls.get("Issues", "")
    if not issues or ".invalid/" in issues:
        yield "This copy of racwire names no place for reports: send it to those from whom you have racwire."
    else:
        yield issues
    yield "Evidence, if it is needed: `racwire save --redact bug.racwire` has pseudonyms; review it before you send it."
    yield "A hole in security: SECURITY.md says how to report it."

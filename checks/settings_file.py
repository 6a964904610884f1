"""Reading the settings file, and writing the annotated template of it.

A mistake in it is told in one sentence with file, line and what was probably meant.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from checks.settings import Settings
from checks.settings_values import mistakes

ENVIRONMENT_VARIABLE = "RACWIRE_SETTINGS"
_HEADING = re.compile(r"""^\s*\[\s*["']?(\w+)["']?\s*\]""")
FILE_LIMIT = 1_000_000
"""Characters of a settings file; the template has some 3,000."""


class SettingsError(Exception):
    """The settings cannot be used: one sentence with where and what to do."""


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the settings lie when nothing else is said."""
    base = environ.get("XDG_CONFIG_HOME")
    if not base:
        home = environ.get("HOME") or "~"
        with contextlib.suppress(RuntimeError):  # a user without a name has no home
            home = str(Path(home).expanduser())
        base = f"{home}/.config"
    return Path(base) / "racwire" / "settings.toml"


def load_settings(named: str | None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings from the file named on the command line, else by the environment, else the default file if it is
    there, else the defaults. Raises SettingsError."""
    explicit = named or environ.get(ENVIRONMENT_VARIABLE)
    path = Path(explicit) if explicit else default_path(environ)
    try:
        text = _read(path)
    except (FileNotFoundError, NotADirectoryError):
        if not explicit:
            return Settings()
        raise SettingsError(f"{path} does not exist; `racwire settings > {path}` writes a template.") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{path} could not be read: {why}; name another with --settings FILE.") from error
    if len(text) > FILE_LIMIT:
        raise SettingsError(f"{path} is no settings file: it is longer than {FILE_LIMIT:,} characters.")
    return parse_settings(text, str(path))


def _read(path: Path) -> str:
    """The text, without the mark that some editors begin a file with; of a too long one a little over the limit."""
    with path.open(encoding="utf-8-sig") as file:
        return file.read(FILE_LIMIT + 1)


def parse_settings(text: str, where: str) -> Settings:
    """Settings from TOML text. Raises SettingsError naming `where` and the line."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise SettingsError(f"{where} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # of TOML itself, or a number of thousands of digits
        raise SettingsError(f"{where} is not valid TOML: {error}.") from error
    _refuse_unknown_names(tables, text, where)
    try:
        settings = msgspec.convert(tables, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(_in_words(str(error), text, where)) from error
    for place, mistake in mistakes(settings):
        section, _, name = place.partition(".")
        raise SettingsError(f"{where}{_line(name, text, section)}: '{name}': {mistake}")
    return settings


def template() -> str:
    """A settings file with every setting at its default, each with its meaning, limits and source as comments."""
    lines = [
        "# racwire settings (TOML). Every line is optional; what stands here are the defaults.",
        f"# Read from --settings FILE, ${ENVIRONMENT_VARIABLE}, or ~/.config/racwire/settings.toml.",
    ]
    for section, table in _sections().items():
        lines += ["", f"# {(table.__doc__ or '').strip()}", f"[{section}]"]
        for field in msgspec.structs.fields(table):
            meta = _meta(table, field.name)
            lines += [
                "",
                *(f"# {line}" for line in _wrapped(meta.description or "")),
                *_allowed(limits_of(table, field.name)),
            ]
            lines.append(f"{field.name} = {_toml(field.default)}")
    return "\n".join(lines) + "\n"


def _sections() -> dict[str, type[msgspec.Struct]]:
    return {name: kind for name, kind in get_type_hints(Settings).items() if name in Settings.__struct_fields__}


def _meta(table: type[msgspec.Struct], field: str) -> msgspec.Meta:
    hint = get_type_hints(table, include_extras=True)[field]
    return get_args(hint)[1] if get_origin(hint) is Annotated else msgspec.Meta()


def limits_of(table: type[msgspec.Struct], name: str) -> str:
    """What a setting of that section may be: `from 1 to 60`, `above 0`; empty where it has no limits."""
    meta = _meta(table, name)
    low = meta.ge if meta.ge is not None else meta.gt
    if low is None and meta.le is None:
        return ""
    over = "from" if meta.ge is not None else "above"
    return f"{over} {low:,g} to {meta.le:,.0f}" if meta.le is not None else f"{over} {low:g}"


def _allowed(limits: str) -> list[str]:
    return [f"# Allowed: {limits}."] if limits else []


def _wrapped(text: str, width: int = 100) -> list[str]:
    return re.findall(rf"\S.{{0,{width - 1}}}(?=\s|$)", text)


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return str(value)


def _refuse_unknown_names(tables: Mapping[str, Any], text: str, where: str) -> None:
    sections = _sections()
    for name, table in tables.items():
        if name not in sections:
            raise SettingsError(_unknown(name, sections, text, where))
        if not isinstance(table, dict):
            raise SettingsError(
                f"{where}{_line(name, text)}: '{name}' is a table of settings; write [{name}] above them."
            )
        for key in table:
            if key not in sections[name].__struct_fields__:
                raise SettingsError(_unknown(key, sections[name].__struct_fields__, text, where, name))


def _unknown(name: str, known: Any, text: str, where: str, section: str = "") -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}."
    return f"{where}{_line(name, text, section)}: '{name}' is not known; {hint}"


def _line(name: str, text: str, section: str = "") -> str:
    """Where a name stands, for the message; TOML keeps no positions. Two sections may have the same name in them."""
    key = rf"""["']?{re.escape(name)}["']?"""
    alone = re.compile(rf"""\s*(\[\s*)?{key}\s*(\]|=|\.)""")
    dotted = re.compile(rf"""\s*["']?{re.escape(section)}["']?\s*(\.\s*{key}\s*=|=\s*\{{.*\b{key}\s*=)""")
    found: dict[int, int] = {}
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.match(line):
            inside = heading[1]
        if alone.match(line):
            found.setdefault(0 if inside == section or not section else 2, number)
        elif dotted.match(line):
            found.setdefault(1, number)
    return f" line {found[min(found)]}" if found else ""


def _in_words(message: str, text: str, where: str) -> str:
    """msgspec's "Expected `int` >= 3 - at `$.probe.packets`" as a sentence with a line."""
    expected, place = limit_in_words(message)
    section, _, name = place.rpartition(".")
    return f"{where}{_line(name, text, section)}: '{name}' {expected}."


def limit_in_words(message: str) -> tuple[str, str]:
    """msgspec's message as words, `must be a number <= 600.0`, and the place: `sampling.interval_s`."""
    expected, _, at = message.partition(" - at ")
    place = re.sub(r"\[.*?\]", "", at.strip("`$."))
    plain = (
        expected.replace("`", "")
        .replace("Expected ", "must be ")
        .replace("int", "a whole number")
        .replace("float", "a number")
        .replace("bool", "true or false")
        .replace("str", "text")
        .replace("array", "a list")
    )
    return plain, place

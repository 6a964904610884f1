"""Reading the settings file, and writing its annotated template.

The error about a mistake is one sentence with the file, the line and the probable correction.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from checks.model.settings import Settings
from checks.model.shell_command import shell
from checks.model.wording import continued, listed, nearest
from checks.run.directories import config_directory

_wrap = partial(textwrap.wrap, width=100, break_long_words=False, break_on_hyphens=False)
ENVIRONMENT_VARIABLE = "RACWIRE_SETTINGS"
SYSTEM_PATH = Path("/etc/racwire/settings.toml")
"""The settings of all users of a machine, below those of each."""
_SECTIONS = [name for name in Settings.__struct_fields__ if name != "waivers"]
_VARIABLE = re.compile(rf"RACWIRE_({'|'.join(_SECTIONS).upper()})_(\w+)")
_OTHER_VARIABLES = frozenset({"RACWIRE_SSH_CONFIG"})
"""Variables of their own that look like a setting."""
_HEADING = re.compile(r"""^\s*\[{1,2}\s*["']?(\w+)["']?\s*\]""")
FILE_LIMIT = 1_000_000
"""Characters of a settings file; the template has some 3,000."""


class SettingsError(Exception):
    """The settings cannot be used: one sentence with the place and the correction."""


def default_path() -> Path:
    """Return the path of the settings file where none is specified."""
    return config_directory() / "settings.toml"


def load_settings(named: str | None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of the file on the command line, else in the environment; else those of all users
    (`SYSTEM_PATH`) with those of the default file above them; and above all of these the variables of the environment,
    `RACWIRE_DATABASE_CONNECT`. Raises SettingsError where a file cannot be read or something in it is a mistake."""
    explicit = named or environ.get(ENVIRONMENT_VARIABLE)
    tables: dict[str, Any] = {}
    for path in [Path(explicit)] if explicit else [SYSTEM_PATH, default_path()]:
        try:
            text = _read(path)
        except (FileNotFoundError, NotADirectoryError):
            if not explicit:
                continue
            write = shell("racwire settings > {file}", file=str(path))
            raise SettingsError(f"{path} does not exist; `{write}` writes a template.") from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise SettingsError(
                f"{path} could not be read: {why}; specify another file with --settings FILE."
            ) from error
        if len(text) > FILE_LIMIT:
            raise SettingsError(f"{path} is not a settings file: it is longer than {FILE_LIMIT:,} characters.")
        own = _tables(text, str(path))
        _settings(own, text, str(path))  # a mistake is reported with the file that has it
        tables = {name: _above(tables.get(name), table) for name, table in {**tables, **own}.items()} if tables else own
    settings = _settings(tables, "", "the settings") if tables else Settings()
    return _with_variables(settings, environ)


def _above(below: Any, table: Any) -> Any:
    """Return a table of two files: the settings of the second one count; of repeated tables all count."""
    if below is None or below is table:
        return table
    return [*below, *table] if isinstance(table, list) else {**below, **table}


def _with_variables(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the settings with those of the environment: of lists, the parts at commas. Raises SettingsError."""
    named = {name: match for name in environ if (match := _VARIABLE.fullmatch(name)) and name not in _OTHER_VARIABLES}
    for variable, match in sorted(named.items()):
        section, name = match[1].lower(), match[2].lower()
        table = getattr(settings, section)
        if name not in table.__struct_fields__:
            meant = nearest(name, table.__struct_fields__).upper()
            hint = f"did you mean RACWIRE_{match[1]}_{meant}?" if meant else "`racwire settings` lists all settings."
            raise SettingsError(f"{variable} is no setting; {hint}")
        text = environ[variable]
        value = [*filter(None, map(str.strip, text.split(",")))] if isinstance(getattr(table, name), tuple) else text
        try:
            new = msgspec.convert({**msgspec.to_builtins(table), name: value}, type(table), strict=False)
        except msgspec.ValidationError as error:
            raise SettingsError(f"{variable} {limit_text(str(error))[0]}.") from None
        settings = msgspec.structs.replace(settings, **{section: new})
    if named:
        from checks.run.settings_values import mistakes

        for place, mistake in mistakes(settings):
            variable = f"RACWIRE_{place.replace('.', '_').upper()}"
            raise SettingsError(f"{variable if variable in named else place}: {mistake}")
    return settings


def _read(path: Path) -> str:
    """Return the text without a byte order mark; of a file that is too long, one character more than the limit."""
    with path.open(encoding="utf-8-sig") as file:
        return file.read(FILE_LIMIT + 1)


def parse_settings(text: str, where: str) -> Settings:
    """Return settings from TOML text. Raises SettingsError with `where` and the line where the text has a mistake."""
    return _settings(_tables(text, where), text, where)


def _tables(text: str, where: str) -> dict[str, Any]:
    # Without a settings file, the first screen of the console does not wait for this module.
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SettingsError(f"{where} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # an error of TOML itself, or a number with thousands of digits
        raise SettingsError(f"{where} is not valid TOML: {error}.") from error


def _settings(tables: Mapping[str, Any], text: str, where: str) -> Settings:
    from checks.run.settings_values import mistakes

    _refuse_unknown_names(tables, text, where)
    try:
        settings = msgspec.convert(tables, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(_error_text(str(error), text, where)) from error
    for place, mistake in mistakes(settings):
        name, section, number = _place(place)
        raise SettingsError(f"{where}{_line(name, text, section, number)}: '{name}': {mistake}")
    return settings


def template(options: Mapping[str, str] | None = None) -> str:
    """Return a settings file with every setting at its default, with its meaning, limits and source as comments.

    `options` has the command-line option that overrides a setting, by the setting's `section.name`.
    """
    options = options or {}
    lines = [
        "# racwire settings (TOML). Every line is optional; this template has the defaults.",
        f"# Read from --settings FILE or ${ENVIRONMENT_VARIABLE}; else from racwire/settings.toml in ~/.config, above",
        f"# {SYSTEM_PATH}. A variable overrides a setting: RACWIRE_CLUSTER_PEERS=rac2,rac3.",
    ]
    for section, table in _sections().items():
        heading = f"# [[{section}]]" if section in _repeated() else f"[{section}]"
        lines += ["", *(f"# {line}" for line in _wrap(" ".join((table.__doc__ or "").split()))), heading]
        for field in msgspec.structs.fields(table):
            meta = _meta(table, field.name)
            lines += [
                "",
                *(f"# {line}" for line in _wrap(meta.description or "")),
                *_allowed(limits_of(table, field.name)),
                *([f"# Option: {options[place]}."] if (place := f"{section}.{field.name}") in options else []),
            ]
            if section in _repeated():  # has no default, but an example, which is TOML
                lines += [f"# {field.name} = {example}" for example in meta.examples or ()]
            else:
                lines.append(f"{field.name} = {toml(field.default)}")
    return "\n".join(lines) + "\n"


def _sections() -> dict[str, type[msgspec.Struct]]:
    """Return the table types by name; for a repeated table, the type of one element."""
    hints = get_type_hints(Settings)
    return {name: _repeated().get(name, hints[name]) for name in Settings.__struct_fields__}


@cache
def _repeated() -> dict[str, type[msgspec.Struct]]:
    """Return the types of the tables that may be repeated, each under a heading in double brackets."""
    tuples = {name: get_args(kind) for name, kind in get_type_hints(Settings).items() if get_origin(kind) is tuple}
    return {name: kinds[0] for name, kinds in tuples.items()}


def _meta(table: type[msgspec.Struct], field: str) -> msgspec.Meta:
    hint = get_type_hints(table, include_extras=True)[field]
    return get_args(hint)[1] if get_origin(hint) is Annotated else msgspec.Meta()


def limits_of(table: type[msgspec.Struct], name: str) -> str:
    """Return the limits of a setting in that section: `from 1 to 60`, `above 0`; empty where it has none."""
    meta = _meta(table, name)
    low = meta.ge if meta.ge is not None else meta.gt
    if low is None and meta.le is None:
        return ""
    over = "from" if meta.ge is not None else "above"
    return f"{over} {low:,g} to {meta.le:,.0f}" if meta.le is not None else f"{over} {low:g}"


def _allowed(limits: str) -> list[str]:
    return [f"# Allowed: {limits}."] if limits else []


def toml(value: Any) -> str:
    """Return a value in TOML syntax, on one line, with unprintable characters escaped."""
    if isinstance(value, str):
        plain = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return str(value)


def _refuse_unknown_names(tables: Mapping[str, Any], text: str, where: str) -> None:
    sections = _sections()
    for name, value in tables.items():
        if name not in sections:
            raise SettingsError(_unknown(name, sections, text, where))
        heading = f"[[{name}]]" if name in _repeated() else f"[{name}]"
        several = value if name in _repeated() else [value]
        if not isinstance(several, list) or not all(isinstance(table, dict) for table in several):
            raise SettingsError(
                f"{where}{_line(name, text)}: '{name}' is a table of settings; write {heading} above its settings."
            )
        for number, table in enumerate(several):
            for key in table:
                if key not in sections[name].__struct_fields__:
                    raise SettingsError(_unknown(key, sections[name].__struct_fields__, text, where, name, number))
            for field in msgspec.structs.fields(sections[name]):
                if field.required and field.name not in table:
                    what = continued(_meta(sections[name], field.name).description or "").rstrip(".")
                    line = _line("", text, name, number)
                    raise SettingsError(f"{where}{line}: {heading} has no '{field.name}': {what}.")


def _unknown(name: str, known: Any, text: str, where: str, section: str = "", number: int = 0) -> str:
    close = nearest(name, known)
    hint = f"did you mean '{close}'?" if close else f"known are {', '.join(known)}."
    return f"{where}{_line(name, text, section, number)}: '{name}' is not known; {hint}"


def _line(name: str, text: str, section: str = "", number: int = 0) -> str:
    """Return the line of a name for the message, ` line 12`; empty where it is not found.

    The TOML parser returns no positions. Two sections may contain the same name, and so may two tables of one section:
    `number` selects the table. Without a name, the line is that of the section's heading.
    """
    key = rf"""["']?{re.escape(name)}["']?"""
    alone = re.compile(rf"""\s*(\[{{1,2}}\s*)?{key}\s*(\]|=|\.)""")
    dotted = re.compile(rf"""\s*["']?{re.escape(section)}["']?\s*(\.\s*{key}\s*=|=\s*\[?\s*\{{.*\b{key}\s*=)""")
    found: dict[int, int] = {}
    inside, times = "", -1
    for line_number, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.match(line):
            inside = heading[1]
            times += inside == section
            if not name and inside == section and times == number:
                return f" line {line_number}"
        here = inside == section and (section not in _repeated() or times == number)
        if alone.match(line):
            found.setdefault(0 if here or not section else 2, line_number)
        elif dotted.match(line):
            found.setdefault(1, line_number)
    return f" line {found[min(found)]}" if found else ""


def _place(place: str) -> tuple[str, str, int]:
    """Return the name, the section and the number of its table: `expires`, `waivers`, 1 for `waivers[1].expires`."""
    section, _, name = place.partition(".")
    section, _, number = section.partition("[")
    return re.sub(r"\[.*", "", name), section, int(number.rstrip("]") or 0)


def _error_text(message: str, text: str, where: str) -> str:
    """Return msgspec's "Expected `int` >= 3 - at `$.probe.packets`" as a sentence with a line."""
    expected, _ = limit_text(message)
    name, section, number = _place(message.partition(" - at ")[2].strip("`$."))
    table = _sections()[section]
    if name and (possible := choices(get_type_hints(table)[name])):
        expected = f"must be {listed(possible, 'or')}"
    if not name:
        name, section = section, ""
    return f"{where}{_line(name, text, section, number)}: '{name}' {expected}."


def choices(kind: Any) -> Sequence[str]:
    """Return the values of a type that has few; empty for other types."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    parts = [("true", "false") if part is bool else choices(part) for part in get_args(kind)]
    return [value for part in parts for value in part] if parts and all(parts) else ()


def limit_text(message: str) -> tuple[str, str]:
    """Return msgspec's message as `must be a number <= 600.0`, and the place: `sampling.interval_s`."""
    expected, _, at = message.partition(" - at ")
    place = re.sub(r"\[.*?\]", "", at.strip("`$."))
    if "`date`" in expected or "RFC3339" in expected:
        return "must be a day, such as 2027-01-31", place
    plain = (
        expected.replace("`", "")
        .replace("Expected ", "must be ")
        .replace("int", "a whole number")
        .replace("float", "a number")
        .replace("bool", "true or false")
        .replace("str", "text")
        .replace("array", "a list")
        .replace(" | null", "")
    )
    return plain, place

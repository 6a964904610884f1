"""Reading the kinds of switch and hypervisor of the site's own file, next to those of racwire.

The error about a mistake is one sentence with the file, the table, the key and the correction.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from checks.model.vendors import PLACEHOLDERS, Hypervisor, Kinds, SwitchKind, known_kinds
from checks.model.wording import nearest
from checks.run.settings_file import limit_text

FILE_LIMIT = 1_000_000
"""Characters of a file of kinds; that of racwire has some 20,000."""
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_PATTERNS = ("lldp", "product")
_CHANGING = {SwitchKind: ("enter", "each_port"), Hypervisor: ("uplinks", "port_group", "virtual_switch")}
_AnyKind = TypeVar("_AnyKind", SwitchKind, Hypervisor)


class VendorsFileError(Exception):
    """A file of kinds cannot be used: one sentence with the place and the correction."""


def load_kinds(named: str = "") -> Kinds:
    """Return the kinds of racwire, with those of the site's file first, if `named` is not empty.

    A kind of the site replaces the one of racwire with the same key. Raises VendorsFileError where the file cannot be
    read or has a mistake.
    """
    known = known_kinds()
    if not named:
        return known
    own = parse_kinds(_read(Path(named).expanduser()), named)
    return Kinds(_first(own.switches, known.switches), _first(own.hypervisors, known.hypervisors))


def parse_kinds(text: str, where: str) -> Kinds:
    """Return the kinds of a text in TOML. Raises VendorsFileError with `where`, the table and the key of a mistake."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise VendorsFileError(f"{where} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:
        raise VendorsFileError(f"{where} is not valid TOML: {error}.") from error
    if unknown := next((name for name in tables if name not in ("switch", "hypervisor")), ""):
        raise VendorsFileError(
            f"{where}: '{unknown}' is not known; write [switch.KEY] or [hypervisor.KEY] above each kind."
        )
    return Kinds(_kinds(tables, "switch", SwitchKind, where), _kinds(tables, "hypervisor", Hypervisor, where))


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(FILE_LIMIT + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise VendorsFileError(
            f"{path} could not be read: {why}; name another file in switch_kinds of [change], or remove the setting."
        ) from error
    if len(text) > FILE_LIMIT:
        raise VendorsFileError(f"{path} is no file of switch kinds: it is longer than {FILE_LIMIT:,} characters.")
    return text


def _first(own: Mapping[str, _AnyKind], known: Mapping[str, _AnyKind]) -> dict[str, _AnyKind]:
    return {**own, **{key: kind for key, kind in known.items() if key not in own}}


def _kinds(tables: Mapping[str, Any], section: str, kind: type[_AnyKind], where: str) -> dict[str, _AnyKind]:
    found = tables.get(section, {})
    if not isinstance(found, dict) or not all(isinstance(table, dict) for table in found.values()):
        raise VendorsFileError(f"{where}: '{section}' is a table of kinds; write [{section}.KEY] above each kind.")
    return {key: _kind(table, key, kind, f"{where}: [{section}.{key}]") for key, table in found.items()}


def _kind(table: Mapping[str, Any], key: str, kind: type[_AnyKind], where: str) -> _AnyKind:
    if not _KEY.fullmatch(key):
        raise VendorsFileError(f"{where}: a key has lower-case letters, digits and hyphens, such as nexus-9000.")
    fields = kind.__struct_fields__
    if unknown := next((name for name in table if name not in fields), ""):
        close = nearest(unknown, fields)
        hint = f"did you mean '{close}'?" if close else f"known are {', '.join(fields)}."
        raise VendorsFileError(f"{where} '{unknown}' is not known; {hint}")
    needed = (field.name for field in msgspec.structs.fields(kind) if field.required)
    if missing := next((name for name in needed if not table.get(name)), ""):
        raise VendorsFileError(f"{where} has no '{missing}'.")
    try:
        made = msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        wanted, place = limit_text(str(error))
        raise VendorsFileError(f"{where} '{place}' {_choices(wanted, kind, place)}.") from error
    for name in fields:
        _validate(made, name, where)
    if not any(getattr(made, name) for name in _CHANGING[kind]):
        raise VendorsFileError(f"{where} has no command that changes it: write {' or '.join(_CHANGING[kind])}.")
    return made


def _choices(wanted: str, kind: type[msgspec.Struct], place: str) -> str:
    """What a value must be; for a choice, its values, which msgspec does not name."""
    if not wanted.startswith("Invalid enum"):
        return wanted
    field = next(field for field in msgspec.structs.fields(kind) if field.name == place)
    values = ", ".join(f'"{value}"' for value in field.type.__args__)
    return f"must be one of {values}"


def _validate(made: SwitchKind | Hypervisor, name: str, where: str) -> None:
    """Raise VendorsFileError for a pattern that is none, a placeholder that is not known, or an {mtu} without mtu."""
    value = getattr(made, name)
    for text in value if isinstance(value, tuple) else ():
        if name in _PATTERNS:
            try:
                re.compile(text)
            except re.error as error:
                raise VendorsFileError(f"{where} '{name}': {text!r} is not a regular expression: {error}.") from error
            continue
        for placeholder in _PLACEHOLDER.findall(text):
            if placeholder not in PLACEHOLDERS:
                known = " and ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                raise VendorsFileError(
                    f"{where} '{name}': {{{placeholder}}} is not known; the placeholders are {known}."
                )
            if placeholder == "mtu" and made.mtu is None:
                raise VendorsFileError(f"{where} '{name}' has {{mtu}}: write its value as mtu, such as mtu = 9216.")

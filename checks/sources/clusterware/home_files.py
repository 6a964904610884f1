"""Read the files that name a Grid home: olr.loc, oratab, oraInst.loc and the central inventory.

Installers write these files, and people edit them; text that cannot be parsed is skipped. Every parser takes time in
proportion to its text, because racwire may run as root on files that other users can write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ASM_INSTANCE = re.compile(r"\+ASM[0-9]*")
_HOME_ELEMENT = re.compile(r"<HOME\s([^<>]{0,4000})>")
_ATTRIBUTE = re.compile(r"\b(LOC|CRS|REMOVED)\s?=\s?[\"']([^\"'<>]*)[\"']")


def parse_crs_home(text: str) -> str | None:
    """The first `crs_home=` of olr.loc with a value: the file can have comments, blanks and duplicates.

    The installer writes `olrconfig_loc=` and `crs_home=`. Oracle Restart has the file too, so it proves no cluster.
    """
    return _first_value(text, "crs_home")


def parse_inventory_location(text: str) -> str | None:
    """The `inventory_loc=` of oraInst.loc: the directory of the central inventory."""
    return _first_value(text, "inventory_loc")


def parse_asm_homes(text: str) -> tuple[str, ...]:
    """The homes of the `+ASM` lines of oratab (`+ASM1:/u01/app/19.0.0/grid:N`): ASM runs from the Grid home."""
    homes = []
    for line in _uncommented(text):
        instance, _, rest = line.partition(":")
        home = rest.partition(":")[0].strip()
        if _ASM_INSTANCE.fullmatch(instance.strip()) and home:
            homes.append(home)
    return tuple(dict.fromkeys(homes))


def parse_inventory(text: str) -> tuple[str, ...]:
    """The homes that inventory.xml marks with `CRS="true"` and not as removed.

    The parser searches for the elements as text, not as XML: it expands no entity, fetches nothing, and reads the
    complete elements of a damaged file.
    """
    homes = []
    for element in _HOME_ELEMENT.finditer(_without_comments(text)):
        attributes = dict(_ATTRIBUTE.findall(element[1]))
        is_grid = attributes.get("CRS", "").lower() == "true" and attributes.get("REMOVED", "").upper() != "T"
        if is_grid and attributes.get("LOC"):
            homes.append(attributes["LOC"])
    return tuple(dict.fromkeys(homes))


def _first_value(text: str, wanted: str) -> str | None:
    for line in _uncommented(text):
        key, _, value = line.partition("=")
        if key.strip().lower() == wanted and (bare := value.strip().strip("'\"")):
            return bare
    return None


def _uncommented(text: str) -> Iterator[str]:
    for raw in text.split("\n"):
        line = raw.partition("#")[0].strip()
        if line:
            yield line


def _without_comments(text: str) -> str:
    kept = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        kept.append(text[position:start])
        end = text.find("-->", start)
        if end < 0:
            return "".join(kept)
        position = end + len("-->")
    return "".join([*kept, text[position:]])

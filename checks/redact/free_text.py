"""The texts that a site writes itself, of which only the words of vendors and the versions stay.

No list of names has what such a text can hold: a person, a rack, a serial number, an inventory number.
"""

from __future__ import annotations

import re
from collections.abc import Callable

LEFT_OUT = "..."
"""It stands for one or several words that were left out."""
_KNOWN = """
    a all an and aos aos-cx apic arista arista-networks arubaos aruba brocade build by c catalyst cisco
    communications compiled copyright corporation cumulus cx dcs debian dell emc enterasys enterprise eos ethernet
    exos extreme feature force10 foundry foundry-networks generic gnu gnu/linux hewlett hewlett-packard hp hpe
    huawei inc ios ios-xe iosxe junos juniper kernel l2 l3 lacp linux lts mellanox mlnx-os modular networking
    networks nexus nvidia nx-os nx-os(tm) on onyx operating oracle os os10 os9 packard platform practice procurve
    quidway racwire real red hat redhat release reserved rights rom ruckus running s-series k-series series server
    smartfabric smp software solaris sonic support switch switches system systems tac technical technologies time tm
    ubuntu ucs uek version vmware versatile vrp with x86_64 aarch64 xe date application amazon ec2 oraclecloud.com
    none default string not specified no asset tag unknown empty microsoft corporation google true false port uplink
    downlink trunk vpc mlag lag peer-link
    """
_WORDS = frozenset(_KNOWN.split())
_VERSION = re.compile(
    r"(?:sw)?v?\d{1,4}(?:[.(]\d{1,4}\)?){0,4}[a-z]{0,2}\d{0,2}(?:[-.]?[sr]\d{1,2}){0,2}\)?", re.IGNORECASE
)
_MODEL = re.compile(
    r"(?:nexus\d{0,5}|n\d{1,2}k|n\d{4}|cat\d{1,4}\w{0,4}|catalyst\d{0,4}|ws-c\d{4}\w{0,3}|c\d{4}\w{0,3}|dcs|qfx\d{4}|ex\d{4}|mx\d{2,3}|m?sn\d{4}\w?"
    r"|s\d{4,5}\w?|z9\d{3}|icx\d{4}|ce\d{4,5}|s72033\w*|ftos|ucs|fi|[a-z]{2}\.10\.\d\d\.\d{4}|j\d{4}[a-z])"
    r"(?:[-_](?:[a-z]{0,3}\d[a-z0-9]{0,7}|[a-z]{1,2}|caa|iosxe|universalk9\w{0,5}))*",
    re.IGNORECASE,
)
_PLACE = re.compile(r"topology/pod-\d+/node-\d+|https?://www\.cisco\.com/\S*")
_PORT = re.compile(
    r"(?:[a-z]{1,20}[ -]?)?\d{1,4}(?:[/.:]\d{1,4}){0,4}|(?:eth|en|bond|vnet|swp|veth|tap|ib)\w{1,8}", re.IGNORECASE
)
_PSEUDONYM = re.compile(r"(?:[a-z]+_[a-z]+[./-]?)+(?:invalid)?|[\da-f.:]*[.:][\da-f.:]*(?:/\d+)?", re.IGNORECASE)
_AROUND = re.compile(r"([(\[\"',;:#]*)(.*?)([)\]\"',;:.]*)", re.DOTALL)
_LONGEST_NUMBER = 6

_IN_OUTPUT = re.compile(
    r"(?P<place>\.(?:chassis|port)\.descr=|(?:SysDescr|PortDescr|^ +Description): *|\.unknown-tlv=|^ +alias "
    r"|chassis_asset_tag:"
    r"|\.lldp-med\.inventory\.\w+=)"
    r"(?P<text>.*(?:(?<=\S)\n(?!lldp\.|[ \t]|\n|\w+:).*)*)",
    re.MULTILINE,
)
"""The output of lldpctl, of `ip`, of switches and of the DMI files. A description of several lines ends at the next
key."""
_MARKERS = ("descr", "unknown-tlv=", "alias ", "chassis_asset_tag:", ".inventory.")
_TABLE = re.compile(r"^(?P<head>LINK +CHASSIS[ -]ID.*)PORT[ -]DESCRIPTION *\n(?P<rows>(?:.+\n?)*)", re.MULTILINE)
"""The table of `networkctl lldp`."""


def reduced(text: str, replaced: Callable[[str], str]) -> str:
    """Return a text with the words of vendors, the versions and the words that `replaced` replaces as a whole."""
    kept: list[str] = []
    for word in re.findall(r"[^\s,]+,?|,", text):
        shown = _shown(word, replaced)
        if shown != LEFT_OUT or kept[-1:] != [LEFT_OUT]:
            kept.append(shown)
    return " ".join(kept)


def reduced_in_output(text: str, replaced: Callable[[str], str]) -> str:
    """Return the output of a tool with such texts reduced."""
    lower = text.lower()
    if any(marker in lower for marker in _MARKERS):
        text = _IN_OUTPUT.sub(lambda found: found["place"] + reduced(found["text"], replaced), text)
    if "CHASSIS" in text:
        text = _TABLE.sub(lambda found: _table(found, replaced), text)
    return text


def _table(found: re.Match[str], replaced: Callable[[str], str]) -> str:
    width = len(found["head"])
    rows = (row[:width] + reduced(row[width:], replaced) for row in found["rows"].split("\n"))
    return found[0][: found.start("rows") - found.start()] + "\n".join(rows)


def _shown(word: str, replaced: Callable[[str], str]) -> str:
    around = _AROUND.fullmatch(word)
    assert around is not None
    bare = around[2]
    if bare.lower() in _WORDS or not re.search(r"\w", word) or _PLACE.fullmatch(bare) or _is_version(bare):
        return word
    if any(form.fullmatch(bare) for form in (_MODEL, _PORT)):
        return word
    shown = replaced(bare)
    return word if shown != bare and _PSEUDONYM.fullmatch(shown) else LEFT_OUT


def _is_version(bare: str) -> bool:
    return _VERSION.fullmatch(bare) is not None and (not bare.isdigit() or len(bare) <= _LONGEST_NUMBER)

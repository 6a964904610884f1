"""Find the names in connect strings, and the names that tools print in well-known forms."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = r"[\w$#+-][\w.$#+-]{0,252}"
_IN_DESCRIPTOR = re.compile(
    rf"\b(HOST|SERVICE_NAME|INSTANCE_NAME|SID|SID_NAME|GLOBAL_DBNAME|GLOBAL_NAME)\s*=\s*({_NAME})", re.IGNORECASE
)
_KINDS = {
    "host": "host",
    "service_name": "service",
    "global_dbname": "service",
    "global_name": "service",
    "instance_name": "instance",
    "sid": "instance",
    "sid_name": "instance",
}
_EASY = re.compile(
    rf"(?://)?(?P<hosts>[\w.,:;\[\]$#-]+?)(?::(?P<port>\d+))?/(?P<service>{_NAME})?(?::\w+)?(?:/(?P<instance>{_NAME}))?"
)

_INSTANCES = re.compile(r"^Database instances?: *([\w$#,-]{1,1000})", re.IGNORECASE | re.MULTILINE)
_CONNECT_OPTION = re.compile(r"--connect[ =](\S+)")
_SID_VARIABLE = re.compile(r"\bORACLE_SID=([\w$#-]{1,64})")
_PLACEHOLDERS = frozenset({"scan", "service", "service_of_a_rac_database", "host"})

_PATTERNS = tuple(
    (kind, marker, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for kind, marker, pattern in (
        ("user", "/home/", r"/home/(?:users/)?([\w.-]{0,63}\w)"),
        ("user", "/users/", r"/users/([\w.-]{0,63}\w)"),
        ("user", "id=", r"\b[ug]id=\d{1,10}\(([^()\s]{1,64})\)"),
        (
            "instance",
            "_",
            r"(?:ora|asm|mdb|apx)_(?:[psm]mon|lmon|lmd\w|lms\w|lm\d\w|vktm|scmn|lck\d|dbw\w|lgwr|ckpt|diag|ping)_([\w$#+-]{1,64})",
        ),
        ("database", "ora.", r"\bora\.([\w$#-]{1,64})\.(?:db\b|[\w$#.-]{1,128}\.svc\b)"),
        ("service", "ora.", r"\bora\.[\w$#-]{1,64}\.([\w$#.-]{1,128})\.svc\b"),
        ("database", "name:", r"\bDatabase (?:unique )?name: *([\w$#-]{1,64})"),
        ("domain", "domain:", r"^Domain: *([\w-]{1,63}(?:\.[\w-]{1,63})*)"),
        ("database", "srvctl", r"\bsrvctl\s+\w+\s+\w+\s.{0,80}?-d(?:b|atabase)?\s+([\w$#-]{1,64})"),
        ("host", "scan name:", r"\bSCAN name: *([\w.-]{1,253})"),
        ("service", 'service "', r'^ *Service "([^"\n]{1,253})" has \d'),
        ("instance", 'instance "', r'^ *Instance "([^"\n]{1,64})", status '),
        ("switch", "chassis.name=", r"\bchassis\.name=(\S[^\n]{0,254})"),
        ("switch", "sysname:", r"\bSysName: *(\S[^\n]{0,254})"),
        # The prompt before the echo of a command, in what a person pasted from a switch or a node.
        (
            "switch",
            "sh",
            r"^ *\[?(?:[\w.-]{1,64}@)?([a-z][\w.-]{1,62})(?:\([\w-]{1,64}\)|[: ]\S{0,64}?\]?)?[#>$%]"
            r" ?(?:sudo )?sh(?:ow)? ",
        ),
        ("user", "@", r"^ *\[?([\w.-]{1,64})@[a-z][\w.-]{1,62}(?:[: ]\S{0,64}?\]?)?[#>$%] ?\S"),
        ("domain", "search", r"^search\s+([\w-]{1,63}(?:\.[\w-]{1,63})+)"),
        ("domain", "domain", r"^domain\s+([\w-]{1,63}(?:\.[\w-]{1,63})+)"),
    )
)
"""The kind of name, a marker, and a pattern. A text without the marker, which is in lower case, needs no search. A
pattern limits the length of a name to the maximum of its kind, so that the search of any text is fast."""


def names_in_connect_string(text: str, alias_kind: str = "service") -> Iterator[tuple[str, str]]:
    """Yield the hosts, services and instances of EZConnect (`//scan:1521/prod`) or of a descriptor, each with its kind.

    Any other text is an alias, which is a name of the kind `alias_kind`.
    """
    if not text:
        return
    if "(" in text:
        yield from names_in_descriptor(text)
        return
    parts = _EASY.fullmatch(text.partition("?")[0].rpartition("tcps:")[2].rpartition("tcp:")[2])
    hosts = parts["hosts"] if parts else re.sub(r":\d+$", "", text) if re.search(r":\d+$", text) else ""
    for host in re.split(r"[,;]", hosts):
        yield "host", host.partition(":")[0] if host.count(":") == 1 else host
    if parts:
        yield "service", parts["service"] or ""
        yield "instance", parts["instance"] or ""
    elif not hosts:
        yield alias_kind, text


def names_in_descriptor(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names in descriptors such as `(DESCRIPTION=(ADDRESS=(HOST=...)...)(CONNECT_DATA=(SERVICE_NAME=...)))`.

    A descriptor can be at any place in the text.
    """
    for found in _IN_DESCRIPTOR.finditer(text):
        yield _KINDS[found[1].lower()], found[2]


def names_in_text(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names in the output of a tool, each with its kind: in processes, resources, home directories, LLDP."""
    if "(" in text and "=" in text:
        yield from names_in_descriptor(text)
    lower = text.lower()
    for kind, marker, pattern in _PATTERNS:
        if marker in lower:
            for found in pattern.finditer(text):
                yield kind, found[1]
    if "database instance" in lower:
        for found in _INSTANCES.finditer(text):
            yield from (("instance", name) for name in found[1].split(","))


def names_in_command(command: str) -> Iterator[tuple[str, str]]:
    """Yield the names in a command that racwire proposes, each with its kind: of `--connect` and of ORACLE_SID."""
    for found in _CONNECT_OPTION.finditer(command):
        yield from (named for named in names_in_connect_string(found[1]) if named[1].lower() not in _PLACEHOLDERS)
    yield from (("instance", found[1]) for found in _SID_VARIABLE.finditer(command))

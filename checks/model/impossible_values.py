"""Names of interfaces, addresses and commands in a file that no kernel, tool or racwire can have written there.

A stranger can write any text into a saved file. Where a name or an address is impossible, the smallest fact around it
that can be Unknown becomes Unknown, with a reason that has the place: the rest of the file is as good as before.
"""

from __future__ import annotations

import ipaddress
import re
import types
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from operator import is_
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from checks.model.command_effect import effect_of
from checks.model.effect import Effect
from checks.model.facts import Cluster, Node, NodeSetup, Unknown, UnreadNode
from checks.model.sanitize import sanitize

_NAME_BYTES = 15
"""IFNAMSIZ of the kernel is 16, with the final zero."""
_PSEUDONYM_BYTES = 64
"""A pseudonym in the name of an interface can be longer than the name."""
_NO_BYTE_OF_A_NAME = re.compile(rb"[/:\0\t\n\v\f\r \xa0]")
"""`dev_valid_name` of net/core/dev.c: no `/`, no `:`, and no byte that isspace() of lib/ctype.c accepts."""
_HALF_WRITTEN_OUT = re.compile(r"\\ud[89a-f][0-9a-f]{2}")
"""A byte that is no UTF-8, as a report in JSON has it."""
_HARDWARE = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){0,31}", re.IGNORECASE)
"""6 bytes of Ethernet, 20 of IPoIB, 4 of a tunnel; the kernel's MAX_ADDR_LEN is 32."""
_SHOWN = 40
"""Characters of the impossible value in the reason."""


def _is_interface(text: str, most: int = _NAME_BYTES) -> bool:
    name = _HALF_WRITTEN_OUT.sub("?", text).encode(errors="surrogateescape")
    return 0 < len(name) <= most and name not in (b".", b"..") and not _NO_BYTE_OF_A_NAME.search(name)


def _is_label(text: str, most: int = _NAME_BYTES) -> bool:
    """Return whether it is an interface or the alias of an address of one, such as `eth1:1`."""
    return len(text.encode(errors="surrogateescape")) <= most and _is_interface(text.replace(":", "", 1), most)


@lru_cache(maxsize=4096)
def _is_address(text: str) -> bool:
    return _parses(ipaddress.ip_interface, text)


@lru_cache(maxsize=4096)
def _is_subnet(text: str) -> bool:
    return text == "default" or _parses(lambda value: ipaddress.ip_network(value, strict=False), text)


def _parses(parse: Callable[[str], object], text: str) -> bool:
    address, has_scope, scope = text.partition("%")
    try:
        parse(address)
    except ValueError:
        return False
    return not has_scope or _is_interface(scope)


def _is_hardware_address(text: str) -> bool:
    return bool(_HARDWARE.fullmatch(text)) or _is_address(text)


def _is_command(text: str) -> bool:
    """Return whether it is one line that does nothing to a running cluster, as those that obtain a right are, and that
    substitutes nothing by the output of a command."""
    unquoted = re.sub(r"'[^']*'", "", text)
    is_plain = text == sanitize(text) and "`" not in unquoted and "$(" not in unquoted
    return is_plain and effect_of((text,)).rank <= Effect.HARMLESS.rank


_INTERFACE = "no name of an interface that the kernel allows"
_LABEL = "no name of an interface or of an alias"
_ADDRESS = "no IP address"
_SUBNET = "no subnet"
_HARDWARE_ADDRESS = "no hardware address"
_COMMAND = "no command that racwire writes there"

_FIELDS = {
    "interface": _INTERFACE, "master": _INTERFACE, "parent": _INTERFACE, "Interface.members": _INTERFACE,
    "active_member": _INTERFACE, "Interface.name": _INTERFACE, "NicAddresses.name": _INTERFACE,
    "DriverCounters.name": _INTERFACE, "NicState.name": _INTERFACE, "Bond.name": _INTERFACE,
    "BondMember.name": _INTERFACE, "DroppedPackets.nic": _INTERFACE, "FollowedPackets.nic": _INTERFACE,
    "label": _LABEL, "ConfiguredInterface.name": _LABEL, "ListedInterface.name": _LABEL,
    "PrivateNetwork.interface": _LABEL, "InterconnectInUse.name": _LABEL, "DeviceHistory.name": _LABEL,
    "ip": _ADDRESS, "gateway": _ADDRESS, "Route.source": _ADDRESS, "source_ip": _ADDRESS, "destination_ip": _ADDRESS,
    "too_big_from": _ADDRESS, "unreachable_from": _ADDRESS, "prohibited_by": _ADDRESS, "unbound_source": _ADDRESS,
    "local_ip": _ADDRESS, "remote_ip": _ADDRESS, "server_ip": _ADDRESS, "addresses": _ADDRESS, "arp_targets": _ADDRESS,
    "management_ips": _ADDRESS, "clients_by": _ADDRESS,
    "destination": _SUBNET, "subnet": _SUBNET,
    "mac_address": _HARDWARE_ADDRESS, "neighbour_mac": _HARDWARE_ADDRESS, "port_mac": _HARDWARE_ADDRESS,
    "partner_mac": _HARDWARE_ADDRESS, "macs": _HARDWARE_ADDRESS,
    "commands": _COMMAND, "script": _COMMAND,
}  # fmt: skip
"""What a text of such a field has to be, by the field or by the class and the field."""
_KEYS = {"infiniband_modes": _INTERFACE, "drivers_in_use": _INTERFACE, "slots": _INTERFACE}
"""The same of the keys of a table."""


class _ImpossibleError(Exception):
    def __init__(self, text: str, rule: str) -> None:
        self.what = f"`{sanitize(text)[:_SHOWN]}` is {rule}"
        self.place = ""

    @property
    def reason(self) -> str:
        return f"{self.what} (in the file at {self.place})"


def without_impossible(cluster: Cluster, *, is_redacted: bool = False) -> Cluster:
    """Return the cluster of a file with impossible facts Unknown; the same object where there is none."""
    most = _PSEUDONYM_BYTES if is_redacted else _NAME_BYTES
    rules: dict[str, Callable[[str], bool]] = {
        _INTERFACE: lambda text: _is_interface(text, most),
        _LABEL: lambda text: _is_label(text, most),
        _ADDRESS: _is_address,
        _SUBNET: _is_subnet,
        _HARDWARE_ADDRESS: _is_hardware_address,
        _COMMAND: _is_command,
    }

    def judged(text: str, rule: str, is_needed: bool) -> None:
        if (text or is_needed) and not rules[rule](text):
            raise _ImpossibleError(text, rule)

    def of_field(value: Any, hint: Any, rule: str, is_needed: bool, place: str = "") -> Any:
        try:
            return inside(value, hint, rule, is_needed)
        except _ImpossibleError as error:
            error.place = ".".join(filter(None, (place, error.place)))
            if Unknown in _alternatives(hint):
                return Unknown(error.reason)
            if UnreadNode in _alternatives(hint) and isinstance(value, Node | NodeSetup | UnreadNode):
                return UnreadNode(value.name, error.reason)
            raise

    def inside(value: Any, hint: Any, rule: str, is_needed: bool) -> Any:
        if isinstance(value, str):
            if rule:
                judged(value, rule, is_needed)
            return value
        if isinstance(value, msgspec.Struct):
            return of_struct(value)
        if isinstance(value, dict):
            return of_table(value, hint, rule)
        if isinstance(value, tuple):
            item = next((get_args(one)[0] for one in _alternatives(hint) if get_origin(one) is tuple), Any)
            items = tuple(of_field(each, item, rule, is_needed) for each in value)
            return value if all(map(is_, items, value)) else items
        return value

    def of_table(table: dict[str, Any], hint: Any, rule: str) -> dict[str, Any]:
        item = next((get_args(one)[1] for one in _alternatives(hint) if get_origin(one) is dict), Any)
        if rule in _KEYS.values():
            for key in table:
                judged(key, rule, True)
            return table
        return {key: of_field(each, item, rule, False) for key, each in table.items()}

    def of_struct(struct: msgspec.Struct) -> msgspec.Struct:
        changed = {}
        for field, hint, rule, is_needed in judged_fields(type(struct)):
            before = getattr(struct, field)
            after = of_field(before, hint, rule, is_needed, field)
            if after is not before and after != before:
                changed[field] = after
        return msgspec.structs.replace(struct, **changed) if changed else struct

    found = of_struct(cluster)
    assert isinstance(found, Cluster)
    return found


@cache
def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


@cache
def judged_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any, str, bool], ...]:
    """Return the fields with a rule, or with a struct that has one: name, type, rule, whether a text is needed."""
    found = []
    for field, hint in get_type_hints(kind).items():
        if field not in kind.__struct_fields__:
            continue
        own = f"{kind.__name__}.{field}"
        rule = _FIELDS.get(own) or _FIELDS.get(field) or _KEYS.get(field) or ""
        if not _holds_text(hint):
            rule = ""
        if rule or any(map(judged_fields, _structs(hint))):
            found.append((field, hint, rule, field == "name"))
    return tuple(found)


def _holds_text(hint: Any) -> bool:
    return hint is str or any(map(_holds_text, get_args(hint)))


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for inner in get_args(hint):
        yield from _structs(inner)

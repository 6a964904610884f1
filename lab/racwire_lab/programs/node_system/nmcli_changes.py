"""The effect of `nmcli connection modify` on the text of a keyfile."""

from __future__ import annotations

from collections.abc import Sequence

from .keyfile import changed
from .nmcli_output import RefusalError

_SETTINGS = (
    *("connection", "802-3-ethernet", "802-1x", "dcb", "sriov", "ethtool", "match"),
    *("ipv4", "ipv6", "hostname", "tc", "proxy"),
)
_PROPERTIES = {
    "connection": (
        *("id", "uuid", "stable-id", "type", "interface-name", "autoconnect", "autoconnect-priority"),
        *("autoconnect-retries", "multi-connect", "auth-retries", "timestamp", "read-only", "permissions", "zone"),
        *("master", "slave-type", "autoconnect-slaves", "secondaries", "gateway-ping-timeout", "metered", "lldp"),
        *("mdns", "llmnr", "dns-over-tls", "mptcp-flags", "mud-url", "wait-device-timeout", "wait-activation-delay"),
    ),
    "802-3-ethernet": (
        *("port", "speed", "duplex", "auto-negotiate", "mac-address", "cloned-mac-address"),
        *("generate-mac-address-mask", "mac-address-blacklist", "mtu", "s390-subchannels", "s390-nettype"),
        *("s390-options", "wake-on-lan", "wake-on-lan-password", "accept-all-mac-addresses"),
    ),
}
_ALIASES = {
    "mtu": "802-3-ethernet.mtu",
    "autoconnect": "connection.autoconnect",
    "con-name": "connection.id",
    "ifname": "connection.interface-name",
}
_LARGEST = 2**32 - 1
_USAGE = 2


def modified(text: str, arguments: Sequence[str]) -> str:
    """Return the keyfile after `PROPERTY VALUE …`. Raises RefusalError for arguments that nmcli rejects."""
    if not arguments:
        raise RefusalError("<setting>.<property> argument is missing.", _USAGE)
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        setting, key = _resolved(name)
        if not rest:
            raise RefusalError(f"value for '{setting}.{key}' is missing.", _USAGE)
        text = _set(text, setting, key, rest.pop(0))
    return text


def _resolved(name: str) -> tuple[str, str]:
    name = _ALIASES.get(name, name).removeprefix("+").removeprefix("-")
    setting, dot, key = name.partition(".")
    if not dot:
        raise RefusalError(f"invalid <setting>.<property> '{name}'.", _USAGE)
    setting = "802-3-ethernet" if setting == "ethernet" else setting
    if setting not in _SETTINGS:
        known = ", ".join("802-3-ethernet (ethernet)" if s == "802-3-ethernet" else s for s in _SETTINGS)
        raise RefusalError(f"invalid or not allowed setting '{setting}': '{setting}' not among [{known}].", _USAGE)
    if setting in _PROPERTIES and key not in _PROPERTIES[setting]:
        raise RefusalError(f"invalid property '{key}': '{key}' not among [{', '.join(_PROPERTIES[setting])}].", _USAGE)
    return setting, key


def _set(text: str, setting: str, key: str, value: str) -> str:
    if (setting, key) == ("802-3-ethernet", "mtu"):
        number = 0 if value in ("auto", "") else int(value) if value.isascii() and value.isdigit() else -1
        if not 0 <= number <= _LARGEST:
            raise RefusalError(
                f"failed to modify 802-3-ethernet.mtu: '{value}' is out of range [0, {_LARGEST}].", _USAGE
            )
        return changed(text, "ethernet", "mtu", str(number) if number else None)
    if (setting, key) == ("connection", "autoconnect"):
        if value not in ("yes", "no", "true", "false", "on", "off"):
            raise RefusalError(
                f"failed to modify connection.autoconnect: '{value}' is not valid; use [true, yes, on] or "
                "[false, no, off].",
                _USAGE,
            )
        return changed(text, "connection", "autoconnect", "false" if value in ("no", "false", "off") else None)
    if (setting, key) in (("connection", "id"), ("connection", "interface-name")):
        return changed(text, "connection", key, value)
    raise RefusalError(f"the nmcli of a practice node cannot change {setting}.{key}.", _USAGE)

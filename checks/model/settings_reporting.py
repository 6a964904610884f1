"""The settings for what racwire reports of its work: in a log and to syslog."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class SettingsSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the settings file."""


class LogSettings(SettingsSection, frozen=True):
    """What racwire reports of its own work: each command, file, query and probe, its seconds and its bytes."""

    verbose: Annotated[bool, Meta(description="Whether racwire prints it on stderr. The console does not.")] = False
    file: Annotated[
        str,
        Meta(
            max_length=4096,
            description="A file of mode 0600 that racwire appends it to. With more than 10 MB it becomes FILE.1, in "
            "place of the one before. Empty: none.",
        ),
    ] = ""


class SyslogSettings(SettingsSection, frozen=True):
    """The messages to syslog on this node: of the runs of `check`, `save` and `report`, and of the events that `watch`
    and `record` see."""

    send: Annotated[bool, Meta(description="Whether racwire sends messages to syslog.")] = False
    socket: Annotated[
        str,
        Meta(min_length=1, max_length=100, description="The socket of the daemon on this node. No network is used."),
    ] = "/dev/log"
    format: Annotated[
        Literal["local", "rfc5424"],
        Meta(
            description="local: the header of syslog(3), which journald, rsyslog and syslog-ng read at /dev/log as "
            "they are installed. rfc5424: RFC 5424, for an input that is configured for it."
        ),
    ] = "local"
    facility: Annotated[
        Literal["user", "daemon", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"],
        Meta(description="The facility of the messages; user is that of syslog(3)."),
    ] = "user"
    enterprise: Annotated[
        int,
        Meta(
            ge=0,
            le=4_294_967_295,
            description="The Private Enterprise Number of your site, for the structured data of RFC 5424: "
            "[racwire@NUMBER ...]. 0: racwire has no number of its own, and the fields end the text.",
        ),
    ] = 0

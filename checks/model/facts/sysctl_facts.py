"""What sets the kernel settings of a node at its next boot, and the buffers that its sockets have now."""

from __future__ import annotations

from checks.model.facts.base import Fact, Unknown


class SysctlLine(Fact, frozen=True):
    """One setting in a file of sysctl or of a tuned profile."""

    key: str
    """With dots between its parts, as in `Node.sysctls`: the name of an interface keeps its dots. It can be a pattern:
    `net.ipv4.conf.*.rp_filter`."""
    value: str
    file: str
    is_exception: bool = False
    """Whether the line only excludes the key from patterns: `-net.ipv4.conf.all.rp_filter`, without a value."""


class TunedProfile(Fact, frozen=True, kw_only=True):
    """The profile of tuned that is applied at boot."""

    name: str
    sets: tuple[SysctlLine, ...]
    """The settings of the profile and of those that it includes, in the order in which they apply."""
    reapplies: bool
    """Whether tuned applies the files of sysctl again after its profile (`reapply_sysctl`, on by default): then the
    files win, /etc/sysctl.conf last."""
    not_found: tuple[str, ...] = ()
    """Included profiles that no directory of tuned has."""


class SysctlFiles(Fact, frozen=True, kw_only=True):
    """The files of sysctl of one node."""

    at_boot: tuple[SysctlLine, ...]
    """The lines in the order in which systemd-sysctl reads them at boot: sysctl.d(5)."""
    last: tuple[SysctlLine, ...] = ()
    """The lines of /etc/sysctl.conf, which `sysctl -p`, `sysctl --system` and tuned apply after all others."""
    files: tuple[str, ...] = ()
    """The files that were read, masked ones left out."""
    unread: tuple[str, ...] = ()
    """Files and directories that this user may not read."""
    tuned: TunedProfile | Unknown | None = None
    """None where tuned is not enabled, or has no profile."""


class UdpSocket(Fact, frozen=True):
    """A UDP socket of a node."""

    ip: str
    port: int
    receive_buffer: int
    """Bytes: the limit of its receive buffer (`rb` of `ss -m`). The kernel gives a program twice what it asks for."""

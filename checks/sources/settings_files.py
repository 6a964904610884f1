"""The registry's entries for a change of kernel settings: what sets them at boot, and the buffers of the sockets."""

from __future__ import annotations

from checks.sources.entries import Program, Read, RunsOn
from checks.sources.sh_text import files_program, program

SYSCTL_CONF = "/etc/sysctl.conf"
SYSCTL_DIRECTORIES = (
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
)
"""By precedence: of two files with the same name, only the first is read (sysctl.d(5))."""
TUNED_ENABLED = "/etc/systemd/system/multi-user.target.wants/tuned.service"
TUNED_ACTIVE = "/etc/tuned/active_profile"
TUNED_MAIN = "/etc/tuned/tuned-main.conf"
TUNED_DIRECTORIES = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
"""By precedence: of two profiles with the same name, only the first is read (tuned-profiles(7))."""

_SYSCTL_LINES = r"^[[:space:]]*-?[[:space:]]*(net[./]|[*?[])"
_PROFILE_LINES = r"^[[:space:]]*(\[|include[[:space:]]*=|net[./])"
_SYSCTLS = files_program(
    " ".join((*SYSCTL_DIRECTORIES, *(f"{place}/*.conf" for place in SYSCTL_DIRECTORIES), SYSCTL_CONF)), _SYSCTL_LINES
)
_TUNED = f"if [ -e {TUNED_ENABLED} ] || [ -L {TUNED_ENABLED} ]; then echo enabled; fi"
_SETTINGS = files_program(f"{TUNED_ACTIVE} {TUNED_MAIN}", "^[[:space:]]*([^#[:space:]=]+[[:space:]]*$|reapply_sysctl)")
_PROFILES = files_program(" ".join(f"{place}/*/tuned.conf" for place in TUNED_DIRECTORIES), _PROFILE_LINES)
SYSCTL_FILES = Program(
    name="sysctl files",
    groups=("changing",),
    where=RunsOn.NODES,
    purpose="the settings of the network that the files of sysctl and the profile of tuned make at the next boot",
    text=program({"sysctl": _SYSCTLS, "tuned": _TUNED, "tuned settings": _SETTINGS, "tuned profiles": _PROFILES}),
    reads=(
        Read(
            "sysctl files",
            "settings at boot",
            f"grep '^net' in {SYSCTL_CONF} and {', '.join(f'{place}/*.conf' for place in SYSCTL_DIRECTORIES)}\n"
            f"{TUNED_ENABLED}; {TUNED_ACTIVE}; reapply_sysctl in {TUNED_MAIN}; sections, include and net lines in "
            f"{', '.join(f'{place}/*/tuned.conf' for place in TUNED_DIRECTORIES)}",
        ),
    ),
)
UDP_SOCKETS = Program(
    name="udp sockets",
    groups=("changing",),
    where=RunsOn.NODES,
    purpose="the receive buffers of the UDP sockets, which a change of the buffers enlarges",
    text=program({"sockets": "ss -u -a -n -m"}, with_errors=("sockets",)),
    reads=(Read("udp sockets", "UDP buffers", "ss -u -a -n -m"),),
)

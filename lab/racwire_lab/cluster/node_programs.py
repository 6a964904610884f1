"""The programs of practice nodes: the machine's, without those that a profile hides and with older ones before others.

A node sees directories of the lab instead of the machine's /usr/sbin and, where the profile changes a program there,
instead of /usr/bin and its like. They hold links to the machine's programs, which the node sees under another path, and
programs of the lab: those that act on the node instead of the machine (`programs/node_system`), and adaptors
(`adaptors`), which accept the options of an older release and rewrite the answer of the real program.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from racwire_lab.cluster.desired import Cable, Desired
from racwire_lab.cluster.files import write_lines
from racwire_lab.cluster.processes import own_python
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import CLOSED_LLDP, NO_LLDP, SWITCH_MTU, PortId, Shape

_ADAPTORS = Path(__file__).parents[1] / "adaptors"
SYSTEM = (
    *("nmcli", "networkctl", "ifup", "ifdown", "systemctl"),
    *("reboot", "shutdown", "poweroff", "halt", "init", "telinit"),
)
"""The names of the node's own program."""
RACWIRE = "racwire"
"""The command as a change plan prints it (`racwire record …`), to be pasted into a node's shell."""
SQLPLUS = "sqlplus"
"""The practice cluster has a SQL*Plus of its own, which knows a few statements."""
MACHINE = "/run/racwire"
"""The machine's own directories as a node sees them: `etc`, `sbin`, and a number for each other directory."""
_LLDP_CLIENTS = ("lldpctl", "lldpcli")
"""The machine's own would query an lldpd of the machine."""
_OF_STORAGE = ("grep",)
"""The programs of nodes that mount from the storage server: their kernel mounts nothing by NFS."""
_FRAME_BYTES = 18
"""The bytes of an Ethernet frame beyond its MTU."""
_DIRECTORIES = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/local/sbin")


def install(directory: Path, shape: Shape, starting: str) -> None:
    """Write the directories of programs. `starting` is the shell command that starts the node's own program."""
    profile = profile_named(shape.like)
    hidden = frozenset((*profile.hidden_programs, *_LLDP_CLIENTS))
    kept = own_python()
    adapted = (*profile.adapted_programs, *(_OF_STORAGE if shape.has_storage else ()))
    system = tuple(name for name in SYSTEM if name not in hidden)
    sbin = Path("/usr/sbin").resolve()
    _make_sbin(directory / "sbin", sbin, starting, system, hidden)
    _adapt(directory / "sbin", sbin, f"{MACHINE}/sbin", adapted)
    if "ethtool" not in hidden:
        (directory / "sbin" / "ethtool").unlink(missing_ok=True)
        _write_program(directory / "sbin" / "ethtool", (_ADAPTORS / "ethtool").read_text(encoding="ascii"))
    if shape.lldp != NO_LLDP:
        for name in _LLDP_CLIENTS:
            (directory / "sbin" / name).unlink(missing_ok=True)
        _write_program(
            directory / "sbin" / _LLDP_CLIENTS[0], (_ADAPTORS / _LLDP_CLIENTS[0]).read_text(encoding="ascii")
        )
        for node in shape.nodes:
            socket = node_home(directory, node) / "lldpd.socket"
            os.mknod(socket, stat.S_IFSOCK | 0o600)
            socket.chmod(0o770 if shape.lldp == CLOSED_LLDP else 0o777)
    (directory / "programs").write_text("".join(f"{name}\n" for name in system), encoding="ascii")
    changed: list[Path] = []
    for place in dict.fromkeys(Path(name).resolve() for name in _DIRECTORIES):
        without = {name for name in hidden if place / name not in kept}
        if place == sbin or not any(os.path.lexists(place / name) for name in {*without, *adapted}):
            continue
        own = directory / "bins" / str(len(changed))
        own.mkdir(parents=True)
        lay(links(place, f"{MACHINE}/{own.name}", without), own, None)
        _adapt(own, place, f"{MACHINE}/{own.name}", adapted)
        changed.append(place)
    (directory / "program_directories").write_text(
        "".join(f"{number} {place}\n" for number, place in enumerate(changed)), encoding="utf-8"
    )


def write_neighbours(directory: Path, target: Desired) -> None:
    """Write the switch port of each NIC as its switch announces the port, in the format of `lldpctl -f keyvalue`."""
    lines: dict[str, list[str]] = {port.node: [] for port in target.nics}
    for port, nic in target.nics.items():
        cable = target.cables[port]
        if cable.bridge and cable.plugged:
            values = {
                "via": "LLDP",
                "rid": "1",
                "chassis.local": _switch_of(port, cable),
                "chassis.name": f"practice-{_switch_of(port, cable)}",
                "chassis.descr": "practice switch",
                "port.ifname": port.name,
                "port.mfs": f"{(cable.uplink_mtu or SWITCH_MTU) + _FRAME_BYTES}",
            }
            lines[port.node] += [f"lldp.{nic.name}.{key}={value}" for key, value in values.items()]
    for node, found in lines.items():
        write_lines(node_home(directory, node) / "lldp", found)


def _switch_of(port: PortId, cable: Cable) -> str:
    """The bridge that the port itself is a member of: a router or a small switch can be before the network's switch."""
    return f"{port.name}-rt" if cable.router else f"{port.name}-sw" if cable.uplink_mtu else cable.bridge


def _make_sbin(own: Path, machine: Path, starting: str, system: tuple[str, ...], hidden: Collection[str]) -> None:
    """Fill the node's /usr/sbin: the lab's programs, this racwire, a SQL*Plus, and links to the machine's programs."""
    own.mkdir()
    lay(links(machine, f"{MACHINE}/sbin", (*SYSTEM, *hidden, RACWIRE, SQLPLUS)), own, None)
    _write_program(own / RACWIRE, f'#!/bin/sh\nexec {shlex.join([sys.executable, "-P", "-m", "racwire"])} "$@"\n')
    sqlplus = shlex.join([sys.executable, "-P", "-m", "racwire_lab.programs.sqlplus"])
    _write_program(own / SQLPLUS, f'#!/bin/sh\nexec {sqlplus} "$@"\n')
    first = own / system[0]
    _write_program(first, f'#!/bin/sh\n{starting} "${{0##*/}}" "$@"\n')
    for name in system[1:]:
        os.link(first, own / name)


def _adapt(own: Path, machine: Path, seen_at: str, adapted: Iterable[str]) -> None:
    """Put the adaptors before the programs of one directory that are no links to another one."""
    for name in adapted:
        if os.path.lexists(machine / name) and not (machine / name).is_symlink():
            (own / name).unlink()
            text = (_ADAPTORS / name).read_text(encoding="ascii")
            _write_program(own / name, text.replace("@REAL@", f"{seen_at}/{name}"))


def _write_program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def links(machine: Path, seen_at: str, but: Collection[str], below: str = "") -> Iterator[tuple[str, str]]:
    """Links that show the entries of a machine's directory in another directory, except some files: names and targets.

    A name without a target is a directory, because a file below it is left out.
    """
    with contextlib.suppress(PermissionError), os.scandir(machine) as entries:
        for entry in entries:
            path = f"{below}{entry.name}"
            if path in but:
                continue
            if entry.is_symlink():
                # The link leads to the same target from its new place.
                yield path, os.readlink(entry.path)
            elif any(other.startswith(f"{path}/") for other in but):
                yield path, ""
                yield from links(Path(entry.path), seen_at, but, f"{path}/")
            else:
                yield path, f"{seen_at}/{path}"


def lay(targets: Iterable[tuple[str, str]], own: Path, like: Path | None) -> None:
    """Put links into a directory. Hard links to the links of a directory like it take a tenth of the time."""
    for path, target in targets:
        if not target:
            (own / path).mkdir()
        elif like is None:
            os.symlink(target, f"{own}/{path}")
        else:
            try:
                os.link(f"{like}/{path}", f"{own}/{path}", follow_symlinks=False)
            except OSError:  # the file system has no hard links to symbolic links
                os.symlink(target, f"{own}/{path}")

"""The sentences and next steps for the events of alert logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checks.model.finding import NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.log_messages.ended_text import AROUND, clock
from checks.plugins.shared.grouping import named
from checks.rules.log_events.episodes import LogEpisode
from checks.rules.log_events.log_message import LogEvent
from checks.rules.log_events.os_errors import STATUS_MEANS

_Same = Sequence[LogEpisode]
_PATHS = NextStep("Test the private networks between all nodes, with packets of all sizes.", ("racwire check df-ping",))


@dataclass(frozen=True)
class EventTexts:
    """How an event reads."""

    subject: str
    sentence: Callable[[_Same], str]
    """The start of the title, for all episodes of the event."""
    next: Callable[[_Same], list[NextStep]]


def _writers(same: _Same, noun: str = "instance") -> str:
    return named([e.writer for e in same], noun)


def _nodes(same: _Same) -> str:
    return listed(dict.fromkeys(node for e in same for node in e.nodes))


def _about(same: _Same, otherwise: str) -> str:
    found = list(dict.fromkeys(e.about for e in same if e.about))
    return listed(found) if 0 < len(found) <= 3 else otherwise


def _kernel_log(same: _Same) -> str:
    """The kernel's log around the last of the events."""
    at = min(same, key=lambda e: e.ago_s).last_at
    return shell("journalctl -k --since {begin} --until {until}", begin=clock(at - AROUND), until=clock(at + AROUND))


def _read(same: _Same, pattern: str) -> NextStep:
    return NextStep(
        "Read the lines before and after, on all nodes, with the system log of that minute.",
        (shell("grep -n -E {pattern} ALERT_LOG | tail -n 20", pattern=pattern), _kernel_log(same)),
        f"root on {_nodes(same)}",
    )


def _state_of(node: str) -> NextStep:
    return NextStep(
        "Find out whether the node runs, and in which state its stack is.",
        ("olsnodes -s -t", "crsctl stat res -t -init"),
        f"the Grid owner on {node}",
    )


def _heartbeat(same: _Same) -> str:
    worst = max(e.worst_percent for e in same)
    peers = _about(same, "other nodes")
    return f"Clusterware on {_writers(same, 'node')} missed the network heartbeat of {peers} for {worst} % of misscount"


def _evicted(same: _Same) -> str:
    return f"{same[0].about or same[0].writer} was evicted from the cluster"


def _instance_evicted(same: _Same) -> str:
    out = list(dict.fromkeys(e.about or "another instance" for e in same))
    by = named([e.by or "another instance" for e in same], "instance")
    who = named(out, "instance")
    who = who[:1].upper() + who[1:] if out[0].startswith(("instance ", "another ")) else who
    return f"{who} {'was' if len(out) == 1 else 'were'} evicted by {by}"


def _send_timeout(same: _Same) -> str:
    outward = [(e.about if e.is_inward else e.writer, e.writer if e.is_inward else e.about) for e in same]
    pairs = sorted({f"{sender} to {receiver or 'another instance'}" for sender, receiver in outward if sender})
    alone = sorted({receiver for sender, receiver in outward if not sender})
    ways = [f"{way} {named(names, 'instance')}" for way, names in (("from", pairs), ("to", alone)) if names]
    return f"Messages {listed(ways)} timed out (IPC send timeout)"


def _refused(same: _Same) -> str:
    seen = sorted({e.status for e in same if e.status is not None})
    each = listed(": ".join(filter(None, (f"status {n}", STATUS_MEANS.get(n)))) for n in seen)
    return f"The kernel refused messages of {_writers(same)} (ORA-27300{', ' if each else ''}{each})"


def _interface(same: _Same) -> str:
    lost = _about(same, "An address of the interconnect")
    return f"{'The interface of ' if lost[0].isdigit() else ''}{lost} was lost on {_nodes(same)}"


def _disk_alone(same: _Same) -> str:
    return (
        f"CSS on {_writers(same, 'node')} saw the disk heartbeat of {_about(same, 'other nodes')} and no network "
        "heartbeat"
    )


def _gipc(same: _Same) -> str:
    return f"Clusterware on {_writers(same, 'node')} had no connection to {_about(same, 'another node')} (GIPC, HAIP)"


def _route(same: _Same) -> str:
    route = _about(same, "of another program")
    return f"Clusterware on {_writers(same, 'node')} removed the route {route} from the range of HAIP"


def _hung(same: _Same) -> str:
    return f"{_writers(same)} reported a hung process of the global cache (ORA-29770)"


TEXTS = {
    LogEvent.HEARTBEAT: EventTexts(
        "heartbeat missing", _heartbeat, lambda same: [_PATHS, _read(same, "CRS-16(0[789]|1[012]|32)")]
    ),
    LogEvent.NODE_EVICTED: EventTexts(
        "evicted",
        _evicted,
        lambda same: [
            _PATHS,
            _read(same, "CRS-16(0[789]|1[012]|32|56)"),
            *(() if all(e.is_member for e in same) else [_state_of(same[0].about or same[0].writer)]),
        ],
    ),
    LogEvent.INSTANCE_EVICTED: EventTexts(
        "instance evicted",
        _instance_evicted,
        lambda same: [
            NextStep(
                "Read the reason of the reconfiguration in the traces of LMON: reason 3 is a failure of communication.",
                ("grep -h 'kjxgrrcfgchk: Initiating reconfig' *_lmon_*.trc | tail -n 5",),
                f"the owner of the database's home on {_nodes(same)}",
            ),
            _PATHS,
        ],
    ),
    LogEvent.SEND_TIMEOUT: EventTexts(
        "IPC send timeout",
        _send_timeout,
        lambda same: [
            _PATHS,
            NextStep(
                "Find out whether the receiver had CPU at that time: a process without CPU does not answer either.",
                ("sar -q -s HH:MM:SS", "sar -u ALL -s HH:MM:SS"),
                "any user on the node of the receiver",
            ),
        ],
    ),
    LogEvent.GIPC: EventTexts(
        "GIPC, HAIP", _gipc, lambda same: [_PATHS, _read(same, "CRS-(7500|7503|42216|5017|2674)")]
    ),
    LogEvent.FOREIGN_ROUTE: EventTexts(
        "foreign route",
        _route,
        lambda same: [
            NextStep(
                "Search the program that adds the route: zeroconf, or the USB interface of a management controller.",
                ("ip route show table all | grep 169.254", "grep -i zeroconf /etc/sysconfig/network"),
                f"any user on {_nodes(same)}",
            )
        ],
    ),
    LogEvent.NO_BUFFERS: EventTexts(
        "no buffer space",
        lambda same: f"The kernel had no buffer space for messages of {_writers(same)} (ORA-27300, status 105)",
        lambda same: [
            NextStep(
                "Compare the MTU of lo (16436 at most) and vm.min_free_kbytes (0.4 % of the memory per NUMA node).",
                ("ip link show lo", "sysctl vm.min_free_kbytes", "numactl --hardware"),
                f"any user on {_nodes(same)}",
            )
        ],
    ),
    LogEvent.TOO_LONG: EventTexts(
        "message too long",
        lambda same: f"The kernel refused messages of {_writers(same)} because of their length (ORA-27300, status 90)",
        lambda same: [
            NextStep(
                "Compare the MTU of the private interfaces and of lo, and the path MTU that the kernel remembers.",
                ("ip -o link show", "ip route show table all", "ip route show cache"),
                f"any user on {_nodes(same)}",
            ),
            _PATHS,
        ],
    ),
    LogEvent.SEND_FAILED: EventTexts(
        "send failed",
        _refused,
        lambda same: [_PATHS, _read(same, "ORA-2730[012]")],
    ),
    LogEvent.NO_CONNECTION: EventTexts(
        "no connection",
        lambda same: f"{_writers(same)} had no connection to the other instances at the start",
        lambda same: [_PATHS, _read(same, "No connectivity|IMR has experienced|terminating")],
    ),
    LogEvent.INTERFACE_LOST: EventTexts(
        "lost",
        _interface,
        lambda same: [
            NextStep(
                "Compare the addresses and the links with the log of the kernel at that minute.",
                ("ip -o addr show", "ip -o link show", _kernel_log(same)),
                f"root on {_nodes(same)}",
            ),
            _PATHS,
        ],
    ),
    LogEvent.NO_NETWORK_HEARTBEAT: EventTexts(
        "no network heartbeat", _disk_alone, lambda same: [_PATHS, _read(same, "no network HB|heartbeat fatal")]
    ),
    LogEvent.CSS_ENDED: EventTexts(
        "CSS ended",
        lambda same: f"CSS on {_writers(same, 'node')} ended with a fatal error (CRS-1656)",
        lambda same: [_read(same, "CRS-16(0[4-9]|1[0-5]|56)")],
    ),
    LogEvent.DISK_HEARTBEAT: EventTexts(
        "voting file",
        lambda same: f"CSS on {_writers(same, 'node')} had trouble with a voting file, no matter of the network",
        lambda same: [
            NextStep(
                "Read the state of the voting files, and the storage's messages of that minute.",
                ("crsctl query css votedisk", _kernel_log(same)),
                f"root on {_nodes(same)}",
            )
        ],
    ),
    LogEvent.HUNG: EventTexts(
        "process hung",
        _hung,
        lambda same: [
            NextStep(
                "Compare CPU, memory and swapping of that minute.",
                ("sar -u ALL -s HH:MM:SS", "sar -W -s HH:MM:SS"),
                f"any user on {_nodes(same)}",
            )
        ],
    ),
    LogEvent.RECONFIGURED: EventTexts(
        "reconfigured", lambda same: f"The instances with {_writers(same)} reconfigured", lambda same: []
    ),
}

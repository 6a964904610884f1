"""Gate: do the sockets of the interconnect have larger receive buffers than before the change?"""

from __future__ import annotations

from checks.change.gates.gate import THEN_VERIFY, GatePlace, node_gate
from checks.change.gates.settings_gates import NO_SETTINGS, nodes_with_values
from checks.change.plan.socket_buffers import private_sockets
from checks.change.progress.change_events import Opened
from checks.model.check import Kind
from checks.model.facts import UdpSocket, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.wording import counted

LARGER = Kind("CH-SOCKET-001", "Sockets on the private networks have larger receive buffers than before the change")
NOT_LARGER = Kind(
    "CH-SOCKET-002",
    "No socket on the private networks has a larger receive buffer than before the change",
    "Open sockets keep their buffers: only an instance that was started after the values were set has larger ones. An "
    "instance that asks for a size of its own may not use the new values at all.",
    ("socket(7), rmem_default and rmem_max", "MOS 563566.1, cause 2"),
)
NOT_READ = Kind("CH-SOCKET-003", "The receive buffers of the sockets cannot be compared")


@node_gate(
    "socket-buffers",
    question="Do the sockets of the interconnect have larger receive buffers?",
    needs=("changing",),
    topic="udp sockets",
    kinds=(LARGER, NOT_LARGER, NOT_READ),
    nodes=nodes_with_values,
    none_planned=(LARGER, NO_SETTINGS),
    read=lambda at: at.asked(at.changing.udp_sockets),
    unread=(NOT_READ, "The receive buffers of {} are not compared"),
    must_be_known=False,
)
def socket_buffers(at: GatePlace, found: tuple[UdpSocket, ...]) -> Finding | Unknown:
    """Runs `ss -u -a -n -m` on the nodes, and compares the largest receive buffer (`rb`) of the UDP sockets on private
    addresses, HAIP included, with the largest one when the change was opened. At least one socket must have a larger
    one. `ss` does not show whose socket it is. What could not be read is not compared, and does not prevent the next
    step.
    """
    first = at.change.lines[0].event
    before = first.look.buffers.get(at.node) if isinstance(first, Opened) else None
    if before is None:
        return Unknown("no such socket was read at the opening")
    sockets = private_sockets(at.plan, at.node, found)
    most = max((socket.receive_buffer for socket in sockets), default=0)
    if most > before:
        number = sum(socket.receive_buffer > before for socket in sockets)
        return at.holds(
            LARGER,
            f"{most:,} bytes",
            f"{number} of {counted(len(sockets), 'UDP socket')} on the private networks of {at.node} have larger "
            f"receive buffers than any had at the opening: up to {most:,} bytes, {before:,} before.",
        )
    return at.fails(
        NOT_LARGER,
        "not larger",
        f"None of {counted(len(sockets), 'UDP socket')} on the private networks of {at.node} has a larger receive "
        f"buffer than {before:,} bytes, the largest at the opening.",
        NextStep(
            "Find the instance that was not restarted since the values were set: the column rb of skmem.",
            ("ss -uanmp", "ps -eo lstart,args | grep ora_pmon_"),
            f"root on {at.node}",
        ),
        THEN_VERIFY,
    )

"""Gate: do the sockets of the interconnect have larger receive buffers than before the change?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import THEN_VERIFY, GateContext, gate, of_node, whole
from checks.change.plan.socket_buffers import private_sockets
from checks.change.progress.change_events import ObservedState, Opened
from checks.model.check import Kind
from checks.model.facts import Cluster, UdpSocket, Unknown
from checks.model.finding import Finding, NextStep, Status
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


@gate(
    "socket-buffers",
    question="Do the sockets of the interconnect have larger receive buffers?",
    needs=("changing",),
    kinds=(LARGER, NOT_LARGER, NOT_READ),
)
def socket_buffers(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Runs `ss -u -a -n -m` on the nodes, and compares the largest receive buffer (`rb`) of the UDP sockets on private
    addresses, HAIP included, with the largest one when the change was opened. At least one socket must have a larger
    one. `ss` does not show whose socket it is. What could not be read is not compared, and does not prevent the next
    step.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    if not context.plan.values:
        yield LARGER.finding("The plan changes no kernel settings.", status=Status.SKIPPED, subject="none planned")
    before = _at_the_opening(context).buffers
    for node in dict.fromkeys(value.node for value in context.plan.values):
        sockets = changing.udp_sockets.get(node) or changing.unasked.get(node)
        if isinstance(sockets, Unknown) or node not in before:
            why = sockets.reason if isinstance(sockets, Unknown) else "no such socket was read at the opening"
            yield of_node(
                NOT_READ,
                Status.INFO,
                node,
                "not read",
                f"The receive buffers of {node} are not compared: {whole(why)}",
                topic="udp sockets",
            )
            continue
        yield _compared(node, private_sockets(context.plan, node, sockets or ()), before[node])


def _at_the_opening(context: GateContext) -> ObservedState:
    first = context.change.lines[0].event
    return first.look if isinstance(first, Opened) else ObservedState()


def _compared(node: str, sockets: tuple[UdpSocket, ...], before: int) -> Finding:
    larger = [socket for socket in sockets if socket.receive_buffer > before]
    if larger:
        most = max(socket.receive_buffer for socket in larger)
        return of_node(
            LARGER,
            Status.PASS,
            node,
            f"{most:,} bytes",
            f"{len(larger)} of {counted(len(sockets), 'UDP socket')} on the private networks of {node} have larger "
            f"receive buffers than any had at the opening: up to {most:,} bytes, {before:,} before.",
            topic="udp sockets",
        )
    return of_node(
        NOT_LARGER,
        Status.FAIL,
        node,
        "not larger",
        f"None of {counted(len(sockets), 'UDP socket')} on the private networks of {node} has a larger receive buffer "
        f"than {before:,} bytes, the largest at the opening.",
        then=[
            NextStep(
                "Find the instance that was not restarted since the values were set: the column rb of skmem.",
                ("ss -uanmp", "ps -eo lstart,args | grep ora_pmon_"),
                f"root on {node}",
            ),
            THEN_VERIFY,
        ],
        topic="udp sockets",
    )

"""The receive buffers of the sockets on the private networks, from what `ss` lists."""

from __future__ import annotations

from checks.change.plan.change_plan import Plan
from checks.model.facts import Address, Cluster, UdpSocket, Unknown


def private_sockets(plan: Plan, node: str, sockets: tuple[UdpSocket, ...]) -> tuple[UdpSocket, ...]:
    """Return the sockets of a node that are bound to an address of a private network, HAIP addresses included."""
    own = {network.addresses[node] for network in plan.networks if node in network.addresses}
    return tuple(socket for socket in sockets if socket.ip in own or Address(socket.ip, 16).is_link_local)


def largest_buffers(cluster: Cluster, plan: Plan) -> dict[str, int]:
    """Return the largest receive buffer of these sockets in bytes, by node, without nodes that have no such socket."""
    found = {} if isinstance(cluster.changing, Unknown) else cluster.changing.udp_sockets
    sizes = {
        node: [socket.receive_buffer for socket in private_sockets(plan, node, sockets)]
        for node, sockets in found.items()
        if not isinstance(sockets, Unknown)
    }
    return {node: max(known) for node, known in sizes.items() if known and node in plan.nodes}

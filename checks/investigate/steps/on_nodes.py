"""Steps that a person makes on a node, by a command that racwire prints and never runs."""

from __future__ import annotations

from collections.abc import Iterator

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.scene import Scene
from checks.model.investigation import By, Price, Probe, Risk, SessionStep
from checks.model.shell_command import for_each, shell
from checks.model.signs import Sign, SignAt
from checks.rules.below_nics import Below, below

_CAPTURE_S = 20


def _reading(
    scene: Scene, declared: str, node: str, signs: tuple[Sign, ...], commands: tuple[str, ...], *,
    user: str, minutes: int, seconds: float = 20, packets: int = 0,
) -> SessionStep:  # fmt: skip
    return SessionStep(
        key=scene.key(declared, node),
        declared=declared,
        by=By.COMMAND,
        place=scene.place(node),
        price=Price(risk=Risk.PERSON, minutes=minutes, seconds=seconds, packets=packets, rights=f"{user} on {node}"),
        reads=tuple(SignAt(sign=sign, network=scene.network, node=node) for sign in signs),
        commands=commands,
        where=f"{user} on {node}",
        is_twice=packets > 0,
    )


def _capture(scene: Scene) -> Iterator[SessionStep]:
    for s, r in scene.pairs:
        port, source = scene.port(r), scene.port(s)
        if port is None or source is None:
            continue
        for size in scene.sizes(s, r):
            probes = tuple(
                Probe(legs=p.legs[:1], sent=p.sent, is_at_nic=True, share=p.share)
                for p in (scene.udp(s, r, size), scene.ping(s, r, size))
            )
            yield SessionStep(
                key=scene.key("capture", s, r, size),
                declared="capture",
                by=By.COMMAND,
                place=scene.place(s, to=r),
                price=Price(
                    risk=Risk.PERSON,
                    minutes=3,
                    seconds=_CAPTURE_S,
                    packets=sum(p.sent for p in probes),
                    octets=sum(p.sent * size for p in probes),
                    rights=f"root on {r}",
                ),
                probes=probes,
                commands=(
                    shell(
                        "timeout 60 tcpdump -p -nn -c 200 -s 128 -i {nic} 'src host {source} and (udp or icmp)'",
                        nic=port.interface,
                        source=source.ip,
                    ),
                ),
                where=f"root on {r}",
            )


def _filter_of_node(scene: Scene) -> Iterator[SessionStep]:
    """Yield the reading of the node's packet filter: the command reads it only where its module is loaded, since
    listing the rules would load it."""
    commands = (
        "grep -q '^nf_tables ' /proc/modules && nft list ruleset",
        "grep -q . /proc/net/ip_tables_names && iptables-save -c",
    )
    for node in scene.named:
        yield _reading(
            scene, "node-filter", node, (Sign.NODE_RULE,), commands, user="root", minutes=2, packets=2 * scene.sent
        )


def _queues_of_node(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        commands = for_each("tc -s qdisc show dev {nic}", "tc -s filter show dev {nic} ingress", nic=scene.nics(node))
        yield _reading(
            scene, "node-queues", node, (Sign.NODE_QDISC,), commands, user="any user", minutes=2,
            packets=2 * scene.sent,
        )  # fmt: skip


def _nic(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        counters = for_each("ethtool -S {nic}", nic=scene.nics(node))
        signs = (Sign.NIC_CRC, Sign.NIC_MISSED, Sign.PAUSED)
        yield _reading(
            scene, "ethtool-counters", node, signs, counters, user="any user", minutes=2, packets=2 * scene.sent
        )
        optics = for_each("ethtool -m {nic}", nic=scene.nics(node))
        yield _reading(scene, "ethtool-optics", node, (Sign.OPTICS,), optics, user="root", minutes=2)


def _neighbours(scene: Scene) -> Iterator[SessionStep]:
    for node in scene.named:
        port = scene.port(node)
        nic = port.interface if port else "ETH"
        commands = (shell("ip -s neigh show dev {nic}", nic=nic),)
        yield _reading(
            scene, "neighbour-entries", node, (Sign.NEIGHBOURS_FAIL,), commands, user="any user", minutes=2,
            packets=2 * scene.sent,
        )  # fmt: skip


def _host_of_machine(scene: Scene) -> Iterator[SessionStep]:
    """Yield the question to the operators of what is below the NICs of virtual machines."""
    for node in scene.named:
        if below(scene.cluster, _network(scene), node) is Below.CABLE:
            continue
        signs = (Sign.HOST_FILTER, Sign.TUNNEL)
        yield SessionStep(
            key=scene.key("host-of-machine", node),
            declared="host-of-machine",
            by=By.COMMAND,
            place=scene.place(node),
            price=Price(risk=Risk.PERSON, minutes=20, rights="the operators of the host or cloud"),
            reads=tuple(SignAt(sign=sign, network=scene.network, node=node) for sign in signs),
            where="the operators of the hypervisor, cloud or container host",
        )


def _network(scene: Scene):  # type: ignore[no-untyped-def]
    return scene.cluster.network(scene.network)


ON_NODES = (
    Declaration(name="capture", by=By.COMMAND, made=_capture),
    Declaration(name="node-filter", by=By.COMMAND, made=_filter_of_node),
    Declaration(name="node-queues", by=By.COMMAND, made=_queues_of_node),
    Declaration(name="ethtool", by=By.COMMAND, made=_nic),
    Declaration(name="neighbour-entries", by=By.COMMAND, made=_neighbours),
    Declaration(name="host-of-machine", by=By.COMMAND, made=_host_of_machine),
)

"""The obstacles to every kind of change on this cluster: findings and facts in, obstacles out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from checks.change.plan import codes
from checks.change.plan.mtu_limits import ports_without_networks
from checks.change.plan.obstacles import Obstacle, obstacle
from checks.model.check import Kind
from checks.model.facts import Cluster, Clusterware, NotGathered, Unknown, UnreadNode
from checks.model.finding import Finding, NextStep, Status, step_for
from checks.model.networks import subnet_of
from checks.model.own_command import OwnCommand
from checks.model.report import Report
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.rules.engineered import PLATFORM, engineered_names, engineered_ports, is_engineered


def engineered(cluster: Cluster) -> Iterator[Obstacle]:
    """Yield the obstacle of an engineered system: RDS and the storage cells depend on the interconnect's MTU.

    This obstacle cannot be accepted.
    """
    nodes = [s.name for s in cluster.read_setups() if s.platform == PLATFORM]
    nics = sorted({nic for _, nic in engineered_ports(cluster)})
    if not nodes and not nics:
        return
    verb = "reports" if len(nodes) == 1 else "report"
    seen = (
        f"{listed(nodes)} {verb} this platform"
        if nodes
        else f"only engineered systems use such interface names ({listed(engineered_names(nics) or nics)})"
    )
    yield obstacle(
        codes.ENGINEERED,
        f"This is an engineered system: {seen}. Its interconnect carries RDS and the traffic of the storage "
        "cells. Change it only by the vendor's procedure.",
        "Follow the vendor's document for your system, or open a service request.",
    )


_MUST_BE_KNOWN = ("df-ping", "mtu-consistency", "clusterware")
"""Checks whose UNKNOWN findings are obstacles: the change needs the facts that they examine."""
_SERVICES_ONLINE = "is online"


def common_obstacles(
    report: Report, fixed: Callable[[Finding], bool], hint: Callable[[Finding], str] = lambda _: ""
) -> list[Obstacle]:
    """Return the obstacles to every kind of change, accepted or not.

    `fixed` says whether the change fixes the fault of a finding, which then is no obstacle. `hint` returns a sentence
    that follows the title of a finding; it may be empty.
    """
    cluster = report.cluster
    unread = tuple(_unread(cluster))
    return [
        *unread,
        *_clusterware(cluster),
        *engineered(cluster),
        *_networks(cluster),
        *_stacks_down(cluster),
        *_others_not_asked(cluster),
        *_findings(report, fixed, hint, bool(unread)),
    ]


def _others_not_asked(cluster: Cluster) -> Iterator[Obstacle]:
    """Yield the obstacle that the other nodes could not be queried for the journal of an open change."""
    changing = cluster.changing
    if isinstance(changing, NotGathered):
        return  # facts of a plan alone, as in a replay: opening a change always queries
    if isinstance(changing, Unknown):
        where, why = "the other nodes", [changing.reason]
    elif changing.unasked:
        where, why = listed(sorted(changing.unasked)), [one.reason for one in changing.unasked.values()]
    else:
        return
    yield obstacle(
        codes.OTHERS_NOT_ASKED,
        f"Whether a change of this cluster is open on {where} is not known: {listed(dict.fromkeys(why))}",
        NextStep("Look there for an open change, as the user who runs racwire.", own=(OwnCommand("list"),)),
        title=f"Journals on {where}: not known",
        acceptable=True,
    )


def in_order(found: Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    """Return the obstacles, each once: first those that cannot be accepted."""
    return tuple(sorted(dict.fromkeys(found), key=lambda obstacle: obstacle.acceptable))


def _unread(cluster: Cluster) -> Iterator[Obstacle]:
    if isinstance(cluster.nodes, Unknown):
        yield _unreadable("The nodes", cluster.nodes.reason)
        return
    setups = {s.name: s for s in cluster.setups} if not isinstance(cluster.setups, Unknown) else {}
    for node in cluster.nodes:
        if isinstance(node, UnreadNode):
            yield _unreadable(node.name, node.reason)
        elif isinstance(cluster.setups, Unknown):
            yield _unreadable(f"The setup of {node.name}", cluster.setups.reason)
        elif isinstance(setup := setups.get(node.name, UnreadNode(node.name, "it was not queried")), UnreadNode):
            yield _unreadable(f"The setup of {node.name}", setup.reason)


def _unreadable(what: str, reason: str) -> Obstacle:
    return obstacle(
        codes.UNREAD,
        f"{what} could not be read: {reason.rstrip('.')}. A change needs every node.",
        NextStep("Fix the reason. If ssh to the node fails, read the message of ssh.", ("racwire check",)),
        title=f"{what}: not read",
    )


def _clusterware(cluster: Cluster) -> Iterator[Obstacle]:
    facts = cluster.clusterware
    if isinstance(facts, Unknown):
        yield obstacle(
            codes.NO_CLUSTERWARE,
            f"Clusterware cannot be queried on {cluster.local_node}: {facts.reason.rstrip('.')}.",
            _step(facts, NextStep("Show what is missing on this node.", ("racwire doctor",))),
        )
        return
    if isinstance(facts.version, Unknown) or not isinstance(state := facts.version.upgrade_state, str):
        return  # releases before 12.1 do not print it; a missing answer of crsctl is a finding of its own
    if state != "NORMAL":
        yield obstacle(
            codes.MID_UPGRADE,
            f"The cluster is in the state {state}: nodes run different software. The interconnect must not be "
            "changed until the upgrade or patch is finished.",
            "Finish the upgrade or the patch first.",
            NextStep(
                "Show the state.", (shell("{home}/bin/crsctl query crs activeversion -f", home=facts.grid_home.path),)
            ),
        )


def _networks(cluster: Cluster) -> Iterator[Obstacle]:
    if isinstance(cluster.networks, Unknown) or not cluster.networks:
        unknown = cluster.networks if isinstance(cluster.networks, Unknown) else Unknown("none is configured")
        if unknown != cluster.clusterware:  # else that is the obstacle
            yield _no_network(codes.NETWORK_NOT_KNOWN, "The private networks are not known", unknown)
        return
    for network in cluster.networks:
        if isinstance(network.mtu, Unknown):
            yield _no_network(codes.NO_MTU, f"The MTU of {network.name} is not known", network.mtu)
    for node, name in ports_without_networks(cluster):
        yield _no_network(
            codes.NO_PORT, f"{node} has no interface on {name}", Unknown("racwire cannot change the MTU there")
        )
    # The vendor configures one subnet for all private networks of an engineered system, which is an obstacle itself.
    plain = [network for network in cluster.networks if not is_engineered(cluster, network.interface)]
    subnets = [subnet_of(network.subnet) for network in plain]
    twice = sorted({str(subnet) for subnet in subnets if subnet is not None and subnets.count(subnet) > 1})
    if twice:
        yield obstacle(
            codes.ONE_SUBNET,
            f"Two private networks share the subnet {listed(twice)}. Pings leave through one of the two only, "
            "so the paths of the other cannot be proved.",
            "Give each private network a subnet of its own first.",
        )


def _step(unknown: Unknown, otherwise: NextStep) -> NextStep:
    """Return the step that obtains the missing right; `otherwise` where no right is missing."""
    return step_for(unknown.right) if unknown.right else otherwise


def _no_network(kind: Kind, what: str, unknown: Unknown) -> Obstacle:
    return obstacle(
        kind,
        f"{what}: {unknown.reason.rstrip('.')}.",
        _step(
            unknown,
            NextStep("Compare the configured and the existing interfaces.", ("racwire check interfaces",)),
        ),
        title=what,
    )


def _stacks_down(cluster: Cluster) -> Iterator[Obstacle]:
    down = [node.name for node in cluster.read_nodes() if _is_down(cluster, node.name)]
    if down:
        verb = "is" if len(down) == 1 else "are"
        yield obstacle(
            codes.NOT_UP,
            f"Clusterware {verb} not fully up on {listed(down)}.",
            NextStep("Find the resource that is not online.", ("crsctl stat res -t -init",)),
            "If a different MTU prevents the node from joining, accept this obstacle with that reason.",
            acceptable=True,
        )


def _is_down(cluster: Cluster, node: str) -> bool:
    setup = cluster.setup(node)
    if setup is None:
        return False
    services = () if isinstance(setup.services, Unknown) else setup.services
    return setup.is_down is True or any(not s.rstrip(".").endswith(_SERVICES_ONLINE) for s in services)


def _findings(
    report: Report, fixed: Callable[[Finding], bool], hint: Callable[[Finding], str], some_unread: bool
) -> Iterator[Obstacle]:
    named = {f.reason for f in (report.cluster.clusterware, report.cluster.networks) if isinstance(f, Unknown)}
    for finding in report.findings:
        if finding.status is Status.FAIL and not fixed(finding):
            yield obstacle_of(finding, hint(finding))
        elif finding.status is Status.UNKNOWN and finding.check in _MUST_BE_KNOWN and not some_unread:
            if not isinstance(report.cluster.clusterware, Clusterware) and finding.check == "clusterware":
                continue  # an obstacle of its own
            if finding.lacks and named.issuperset(fact.reason for fact in finding.lacks):
                continue  # the facts that it lacks are an obstacle of their own
            yield obstacle_of(finding, "")


def obstacle_of(finding: Finding, hint: str) -> Obstacle:
    """Return the obstacle of a finding, with a hint after its title."""
    return Obstacle(
        code=finding.code,
        title=finding.subject or finding.title,
        sentence=" ".join(part for part in (finding.title, hint) if part),
        next=(*finding.next, NextStep("More about it.", (shell("racwire explain {code}", code=finding.code),))),
        acceptable=True,
    )

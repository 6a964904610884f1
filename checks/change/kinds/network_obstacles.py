"""The obstacles to a change of the private networks: facts and findings in, obstacles out."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

import msgspec

from checks.change.kinds.new_network import FoundNetwork
from checks.change.plan import codes, network_codes
from checks.change.plan.layers import layers_as_they_are, networks_of
from checks.change.plan.obstacles import Obstacle, obstacle, plan_again
from checks.change.plan.other_users import uses_of
from checks.change.plan.preflight import common_obstacles, in_order, obstacle_of
from checks.change.plan.registered_networks import configured_lines, ocr_against_gpnp, private_lines
from checks.model.facts import Cluster, Clusterware, Database, Port, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.networks import in_subnet, nics_of
from checks.model.report import Report
from checks.model.shell_command import sql
from checks.model.wording import counted, listed
from checks.plugins.rp_filter import STRICT
from checks.rules.engineered import is_engineered
from checks.rules.sysctls_at_boot import effective_rp_filter

_FIRST_RELEASE = (11, 2)
_MOST_HAIP = 4
_LINK_LOCAL = ipaddress.ip_network("169.254.0.0/16")
_PARAMETER = "cluster_interconnects"


def network_obstacles(
    report: Report, tested: Report | None, new: FoundNetwork, old: PrivateNetwork | None
) -> tuple[Obstacle, ...]:
    """Return all obstacles to a new private network, which replaces `old` if there is one.

    `tested` is the report of the checks on the new network; None if none was made.
    """
    cluster = report.cluster

    def fixed(finding: Finding) -> bool:
        return old is not None and finding.network == old.name

    found = [
        *_of_every_kind(report, fixed),
        *_release(cluster),
        *_in_step(cluster),
        *_interfaces(cluster, new),
        *_subnet(cluster, new, old),
        *_number(cluster, old),
        *_parameter(cluster, old),
        *_storage(cluster, old),
        *_carries_more(cluster, new, old),
    ]
    if new.places and not any(o.code in (codes.ENGINEERED.code, codes.UNREAD.code) for o in found):
        found += [*_tested(cluster, tested, new), *_strict(cluster, new, old)]
    return in_order(found)


def _of_every_kind(report: Report, fixed: Callable[[Finding], bool]) -> Iterator[Obstacle]:
    for found in common_obstacles(report, fixed):
        if found.code == codes.NOT_UP.code:
            sentence = f"{found.sentence} oifcfg changes the networks only while Clusterware is up on every node."
            yield msgspec.structs.replace(found, sentence=sentence, next=found.next[:1], acceptable=False)
        else:
            yield found


def _release(cluster: Cluster) -> Iterator[Obstacle]:
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware):
        return  # an obstacle of its own
    version = facts.version if isinstance(facts.version, Unknown) else facts.version.version
    numbers = re.findall(r"\d+", version) if isinstance(version, str) else []
    if len(numbers) < 2:
        yield obstacle(
            network_codes.RELEASE_NOT_KNOWN,
            "The release of Clusterware is not known"
            + (f": {version.reason.rstrip('.')}." if isinstance(version, Unknown) else "."),
            NextStep("Show it.", ("crsctl query crs activeversion",)),
            acceptable=True,
        )
    elif (int(numbers[0]), int(numbers[1])) < _FIRST_RELEASE:
        yield obstacle(
            network_codes.OLD_RELEASE,
            f"Clusterware {version} uses the private node names for its heartbeat, not the networks in oifcfg.",
            "Follow the part of MOS 283684.1 for releases before 11.2.",
        )


def _in_step(cluster: Cluster) -> Iterator[Obstacle]:
    if differ := ocr_against_gpnp(cluster):
        yield obstacle(
            network_codes.NOT_IN_STEP,
            f"oifcfg reports that the OCR and the GPnP profile differ ({listed(differ)}).",
            NextStep("Store the right lines again, with the commands of this check.", ("racwire check interfaces",)),
        )
    for line in private_lines(cluster):
        if line.scope != "global":
            yield obstacle(
                network_codes.NODE_SPECIFIC,
                f"oifcfg has {line.name} {line.subnet} as {line.scope}.",
                "Make the private networks global first: Oracle supports no others.",
            )


def _interfaces(cluster: Cluster, new: FoundNetwork) -> Iterator[Obstacle]:
    on = f" in {new.subnet}" if new.subnet else ""
    by_node = {node.name: (interface, address) for node, interface, address in new.places}
    for node in cluster.read_nodes():
        if node.name in by_node:
            interface, _ = by_node[node.name]
            if not interface.is_up:
                how = "has no link" if interface.administratively_up else "is switched off"
                yield obstacle(
                    network_codes.NO_INTERFACE,
                    f"{interface.name} of {node.name} {how}.",
                    NextStep("Check cable, switch port and interface.", ("ip -brief link",)),
                    title=f"{interface.name} of {node.name} is not up",
                )
            continue
        other = next((i.name for n, i, _ in new.elsewhere if n.name == node.name), "")
        if other:
            what = f"has the subnet {new.subnet} on {other}, not on {new.interface}: Oracle supports a private network "
            what += "only on interfaces of one name"
            remedy: str | NextStep = f"Rename {other} of {node.name} to {new.interface}, now and for the next boot."
        elif node.interface(new.interface):
            what = f"has no address{on} on {new.interface}"
            remedy = (
                f"Give {new.interface} of {node.name} an address{on or ' in the new subnet'}, now and in its files."
            )
        else:
            what = f"has no interface {new.interface}"
            remedy = NextStep("Show its interfaces.", ("ip -brief address",))
        yield obstacle(
            network_codes.NO_INTERFACE, f"{node.name} {what}.", remedy, title=f"{node.name} is not on the new network"
        )
    lengths = {address.prefix_length for _, _, address in new.places}
    if len(lengths) > 1:
        masks = listed(f"/{address.prefix_length} on {node.name}" for node, _, address in new.places)
        yield obstacle(
            network_codes.NETMASKS_DIFFER, f"The netmasks on {new.interface} differ: {masks}.", "Give all nodes one."
        )
    mtus = {interface.mtu for _, interface, _ in new.places}
    if len(mtus) > 1:
        each = listed(f"{interface.mtu} on {node.name}" for node, interface, _ in new.places)
        yield obstacle(
            network_codes.MTUS_DIFFER,
            f"The MTUs of {new.interface} differ: {each}.",
            "Set one MTU on all nodes, now and in their files: nothing uses this network yet.",
        )
    present = sorted({network.mtu for network in networks_of(cluster) if isinstance(network.mtu, int)})
    if len(mtus) == 1 and present and present != sorted(mtus):
        yield obstacle(
            network_codes.OTHER_MTU,
            f"{new.interface} has MTU {min(mtus)}; the private networks have {listed(map(str, present))}.",
            f"Set MTU {present[0]} on {new.interface} of every node and on its switch ports, before it is used.",
            acceptable=True,
        )


def _subnet(cluster: Cluster, new: FoundNetwork, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    if not new.subnet:
        return
    mine = ipaddress.ip_network(new.subnet)
    if mine.version == 4 and mine.overlaps(_LINK_LOCAL):
        yield obstacle(
            network_codes.OVERLAPS,
            f"{new.subnet} is in 169.254.0.0/16, from which HAIP takes its addresses.",
            "Choose a private subnet outside 169.254.0.0/16.",
        )
        return
    bare = str(mine.network_address)
    line = next((line for line in configured_lines(cluster) if line.subnet.partition("/")[0] == bare), None)
    if line is not None:
        roles = ",".join(line.roles)
        same = (
            " racwire does not plan a move within one subnet: the old and the new interface cannot be up at the same "
            "time, so the new paths cannot be proved before the outage."
            if old is not None and line.is_private
            else ""
        )
        yield obstacle(
            network_codes.REGISTERED,
            f"oifcfg has the subnet {bare} already: {line.name} with the role {roles}.{same}",
            NextStep("Show the lines.", ("oifcfg getif",))
            if not same
            else "Use another subnet for the new network, or follow MOS 283684.1 by hand.",
        )
        return
    others = {
        str(address.network): f"{interface.name} of {node.name}"
        for node in cluster.read_nodes()
        for interface in node.interfaces
        for address in interface.addresses
        if address.network.version == mine.version
        and address.network != mine
        and str(address.network.network_address) != bare
        and not (address.is_link_local or ipaddress.ip_address(address.ip).is_loopback)
        and address.network.overlaps(mine)
    }
    if others:
        yield obstacle(
            network_codes.OVERLAPS,
            f"{new.subnet} overlaps {listed(f'{subnet} ({where})' for subnet, where in sorted(others.items()))}.",
            "Choose a subnet that no interface of any node has.",
        )
    yield from _shared_nic(cluster, new, old)


def _shared_nic(cluster: Cluster, new: FoundNetwork, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    stays = [network for network in networks_of(cluster) if old is None or network.name != old.name]
    for node, interface, address in new.places:
        mine = {*nics_of(cluster, Port(node.name, interface.name, address.ip))}
        for network in stays:
            port = network.port(node.name)
            if port and not mine.isdisjoint(nics_of(cluster, port)):
                yield obstacle(
                    network_codes.SAME_NIC,
                    f"{interface.name} of {node.name} and {port.interface}, which carries {network.name}, use the same "
                    "NIC.",
                    "Use a NIC of its own, on another switch if possible.",
                    acceptable=True,
                )
                return


def _number(cluster: Cluster, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    number = len(private_lines(cluster)) + (1 if old is None else 0)
    if number > _MOST_HAIP:
        yield obstacle(
            network_codes.TOO_MANY,
            f"There would be {number} private networks; HAIP has addresses on {_MOST_HAIP} of them.",
            acceptable=True,
        )


def _parameter(cluster: Cluster, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    database = cluster.database
    if not isinstance(database, Database) or isinstance(database.parameters, Unknown):
        return
    set_to = {p.instance: p.value for p in database.parameters if p.name == _PARAMETER and p.value}
    nics = [port.interface for network in networks_of(cluster) for port in network.ports]
    if not set_to or any(is_engineered(cluster, nic) for nic in nics):
        return
    names = listed(database.instance_name(number) for number in set_to)
    values = listed(dict.fromkeys(set_to.values()))
    uses = "ignores" if len(set_to) == 1 else "ignore"
    yield obstacle(
        network_codes.PARAMETER_SET,
        f"cluster_interconnects is set on {names} ({values}), which {uses} the networks in oifcfg."
        if old is None
        else f"cluster_interconnects is set on {names} ({values}): an instance does not start without its address.",
        NextStep(
            "Reset it first, for each instance; the restart of the plan makes it effective.",
            (sql("ALTER SYSTEM RESET {parameter} SCOPE=SPFILE SID='INSTANCE'", parameter=_PARAMETER),),
        ),
        NextStep("Then check.", ("racwire check interconnect-in-use",)),
        acceptable=True,
    )


def _carries_more(cluster: Cluster, new: FoundNetwork, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    """Yield the obstacle of an interface that must not go down: it has other addresses, or carries other interfaces."""
    if old is None:
        return
    shared = {(node.name, interface.name) for node, interface, _ in new.places}
    more = []
    for port in old.ports:
        node, interface = cluster.node(port.node), cluster.interface(port)
        if node is None or interface is None or (port.node, port.interface) in shared:
            continue
        others = [str(a.network) for a in interface.addresses if not a.is_link_local and not in_subnet(a, old.subnet)]
        above = [one.name for one in node.interfaces if one.parent == interface.name]
        if others or above:
            more.append(f"{port.interface} of {port.node} also carries {listed([*others, *above])}")
    bare = old.subnet.partition("/")[0]
    if any(line.is_public and line.subnet.partition("/")[0] == bare for line in configured_lines(cluster)):
        more.append(f"{old.name} is a public network in oifcfg")
    if more:
        yield obstacle(
            network_codes.ALSO_PUBLIC,
            f"{listed(more)}. The plan would take it down.",
            NextStep(
                "Add the new network, and take the role cluster_interconnect from the old line by hand.",
                own=plan_again("add-network --interface NIC"),
            ),
        )


def _storage(cluster: Cluster, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    if old is None:
        return
    layers = [layer for layer in layers_as_they_are(cluster) if old.name in layer.networks]
    uses = dict.fromkeys(f"{use.service} with {use.remote} on {use.interface}" for use in uses_of(cluster, layers))
    if uses:
        yield obstacle(
            network_codes.STORAGE_MOVES,
            f"{listed(uses)}: the plan takes this network down.",
            "Move it to another network first, or unmount and log out after the stop of Clusterware.",
            acceptable=True,
        )


def _tested(cluster: Cluster, tested: Report | None, new: FoundNetwork) -> Iterator[Obstacle]:
    if tested is None:
        yield obstacle(network_codes.NOT_PROVED, f"No packet was sent on {new.subnet}.", "Run the command again.")
        return
    for finding in tested.findings:
        if finding.network != new.subnet:
            continue
        is_path = finding.check == "df-ping"
        if finding.status is Status.FAIL or (is_path and finding.status in (Status.UNKNOWN, Status.WARN)):
            yield msgspec.structs.replace(obstacle_of(finding, ""), acceptable=False)
    paths = () if isinstance(tested.cluster.paths, Unknown) else tested.cluster.paths
    if len(new.places) > 1 and not any(path.network == new.subnet for path in paths):
        why = f": {tested.cluster.paths.reason.rstrip('.')}" if isinstance(tested.cluster.paths, Unknown) else ""
        yield obstacle(
            network_codes.NOT_PROVED, f"No packet was sent on {new.subnet}{why}.", "Fix the reason, and run it again."
        )


def _strict(cluster: Cluster, new: FoundNetwork, old: PrivateNetwork | None) -> Iterator[Obstacle]:
    strict: list[str] = []
    for node in cluster.read_nodes():
        names = {
            port.interface for network in networks_of(cluster) if network != old and (port := network.port(node.name))
        }
        names |= {interface.name for of, interface, _ in new.places if of.name == node.name}
        if len(names) > 1:
            strict += [
                f"{name} of {node.name}" for name in sorted(names) if effective_rp_filter(cluster, node.name, name) == 1
            ]
    if strict:
        yield obstacle(
            STRICT,
            f"rp_filter is strict (1) on {listed(strict)}: with several private interfaces it must be 0 or 2.",
            NextStep("Set it to loose (2) first, without an outage.", own=plan_again("rp-filter")),
            title=f"rp_filter is strict on {counted(len(strict), 'interface')}",
            acceptable=True,
        )

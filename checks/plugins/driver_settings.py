"""Do the nodes have the same NIC drivers, firmware, flow control and kernel, and receive rings of full size?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.facts import Cluster, NicDriver, PrivateNetwork, Unknown, Unread, UnreadNode
from checks.model.finding import Finding, NextStep, Status
from checks.model.networks import nics_of
from checks.model.shell_command import for_each, shell
from checks.plugins.shared.grouping import alike, briefly, named, nics_named, some, topics_of
from checks.plugins.shared.hash_steps import hash_text
from checks.plugins.shared.host_facts import HOST_TOPIC, hosts_of, not_known_findings, parts_of, skipped
from checks.rules.nic_counts import loss_ends, ring_status
from checks.rules.observed.states import read_on, state

_CAUSE_9, _CAUSE_14, _CAUSE_16 = (f"MOS 563566.1, cause {number}" for number in (9, 14, 16))

SAME = PassKind("IC-DRIVER-001", "The private NICs of a network have the same driver, firmware and flow control")
DRIVERS = WarnKind(
    "IC-DRIVER-002",
    "The private NICs of a network have different drivers or versions",
    "A fault of one version shows on some nodes and not on others. Compare it with the list of certified versions.",
    (_CAUSE_9,),
)
KERNELS = InfoKind(
    "IC-DRIVER-003",
    "The nodes run different kernels",
    "Drivers and network code come with the kernel. During a rolling update that is intended.",
    (_CAUSE_9,),
)
RING = Kind(
    "IC-DRIVER-004",
    "The receive ring of a private NIC is smaller than it can be",
    "When packets arrive faster than the CPU takes them, the NIC drops those that do not fit into the ring.",
    (_CAUSE_16, "ethtool(8)"),
)
PAUSE = WarnKind(
    "IC-DRIVER-005",
    "Flow control differs between the private NICs of a network",
    "A NIC that sends pause frames stops its switch port, and one that ignores them is overrun.",
    (_CAUSE_14, "ethtool(8)"),
)
NOT_KNOWN = UnknownKind("IC-DRIVER-006", "The drivers of the private NICs are not known")
SAME_KERNEL = PassKind("IC-DRIVER-007", "The nodes run the same kernel")


@dataclass(frozen=True)
class _Nic:
    """The driver of a NIC that carries a private network."""

    node: str
    driver: NicDriver
    kernel: str

    @property
    def version(self) -> tuple[str, str, str]:
        """Driver, version and firmware; the version that a driver takes over from its kernel is none of its own."""
        own = self.driver.version
        return self.driver.driver, "" if own == self.kernel else own, self.driver.firmware

    @property
    def pause(self) -> tuple[bool | None, bool | None]:
        return self.driver.pause_rx, self.driver.pause_tx


@check(
    "driver-settings",
    question="Do the nodes have the same NIC drivers, rings and flow control?",
    needs=("nodes", "networks", "setups"),
    uses=("database", "activity"),
    kinds=(SAME, DRIVERS, KERNELS, RING, PAUSE, NOT_KNOWN, SAME_KERNEL),
)
def driver_settings(cluster: Cluster) -> Iterator[Finding]:
    """Compares the answers of `ethtool -i`, `-g` and `-a` for the private NICs and the members of their bonds.

    Different drivers, versions, firmware or flow control on one network are warnings; different kernels are reported
    for information. A receive ring below its maximum is a warning on a node whose instance loses blocks in this run,
    and information otherwise.
    """
    if isinstance(cluster.networks, Unknown):
        return
    known, unknown = parts_of(cluster, lambda host: host.drivers)
    losing = loss_ends(cluster).receivers
    judged = False
    for network in cluster.networks:
        nics = _nics(cluster, network, known)
        found = [
            *_different(network, nics),
            *_pause(network, nics),
            *_rings(network, nics, losing),
        ]
        yield from found
        reported = [nic for nic in nics if nic.driver.driver]
        judged = judged or bool(reported)
        if reported and not any(f.status is Status.WARN for f in found):
            yield _same(network, reported)
    yield from _kernels(cluster)
    unread: dict[str, Unread] = {n: fact for n, fact in unknown.items() if isinstance(fact, UnreadNode)}
    yield from not_known_findings(NOT_KNOWN, "The NIC drivers of {} are", unread, "driver-settings")
    if not judged and not unread:
        reasons = dict.fromkeys(fact.reason for fact in unknown.values())
        why = f": {next(iter(reasons))}" if reasons else ""
        shown = ", ".join(sorted({d for host in hosts_of(cluster).values() for d in host.drivers_in_use.values()}))
        known_too = f" The kernel shows the drivers {shown}." if shown else ""
        title = f"Rings, flow control and firmware of the private NICs were not compared{why}.{known_too}"
        yield skipped(SAME, title, "no ethtool" if reasons else "no answers", cluster)


def _nics(cluster: Cluster, network: PrivateNetwork, known: dict[str, tuple[NicDriver, ...]]) -> list[_Nic]:
    found = []
    for port in network.ports:
        node = cluster.node(port.node)
        names = list(dict.fromkeys(nics_of(cluster, port))) if node else []
        by_name = {driver.interface: driver for driver in known.get(port.node, ())}
        found += [_Nic(port.node, by_name[n], node.kernel_release) for n in names if node and n in by_name]
    return found


def _different(network: PrivateNetwork, nics: Sequence[_Nic]) -> Iterator[Finding]:
    groups = alike([nic for nic in nics if nic.driver.driver], lambda nic: nic.version)
    if len(groups) < 2:
        return
    drivers = {nic.driver.driver for nic in nics}
    what = "drivers" if len(drivers) > 1 else "versions of their driver or firmware"
    yield _finding(
        DRIVERS,
        f"The NICs of {network.name} have different {what}: " + "; ".join(_group(group, _version) for group in groups),
        network,
        nics,
        [f"{nic.node}: {nic.driver.interface} {_version(nic)}" for nic in nics],
        "One driver, version and firmware on all nodes",
        [
            NextStep(
                "Display driver and firmware.",
                _commands("ethtool -i {nic}", nics),
                f"any user on {_nodes(nics)}",
            ),
            NextStep("Plan the same version on all nodes, at the next update of the operating system or the firmware."),
        ],
        f"{len(groups)} versions",
    )


def _version(nic: _Nic) -> str:
    driver, version, firmware = nic.version
    parts = (driver, version, f"firmware {firmware}" if firmware else "")
    return " ".join(part for part in parts if part)


def _pause(network: PrivateNetwork, nics: Sequence[_Nic]) -> Iterator[Finding]:
    groups = alike([nic for nic in nics if nic.pause != (None, None)], lambda nic: nic.pause)
    if len(groups) > 1:
        yield _finding(
            PAUSE,
            f"Flow control differs on {network.name}: " + "; ".join(_group(group, _pause_text) for group in groups),
            network,
            nics,
            [f"{nic.node}: {nic.driver.interface} {_pause_text(nic)}" for nic in nics],
            "The same flow control on all NICs and switch ports",
            [
                NextStep("Display the settings.", _commands("ethtool -a {nic}", nics), f"any user on {_nodes(nics)}"),
                NextStep("Ask the network team for the flow control of the switch ports; both sides should agree."),
            ],
            "flow control",
        )


def _pause_text(nic: _Nic) -> str:
    words = {True: "on", False: "off", None: "not known"}
    return f"pause RX {words[nic.pause[0]]}, TX {words[nic.pause[1]]}"


def _rings(network: PrivateNetwork, nics: Sequence[_Nic], losing: Collection[str]) -> Iterator[Finding]:
    small = [nic for nic in nics if _ring(nic)]
    for same in alike(small, lambda nic: (_ring(nic), nic.node in losing)):
        at, most, which = _ring(same[0]) or (0, 0, "")
        loses = same[0].node in losing
        nodes = named(dict.fromkeys(nic.node for nic in same), "node")
        yield _finding(
            RING,
            f"The {which} of {_labels(same)} on {network.name} has {at:,} of at most {most:,} entries"
            + (f", and instances on {nodes} lose blocks." if loses else "."),
            network,
            same,
            [f"{nic.node}: {nic.driver.interface} {nic.driver.driver}, {which} {at:,} of {most:,}" for nic in same],
            f"{most:,} entries where the NIC drops packets",
            [
                NextStep(
                    "Find out whether the NIC drops packets for want of entries: missed, fifo, no_buffer or OOB grow.",
                    _commands("ethtool -S {nic}", same),
                    f"any user on {_nodes(same)}",
                ),
                NextStep(
                    "Raise the ring, and keep the value in the configuration of the interface.",
                    (
                        shell(
                            "ethtool -G {nic} {option} {most}",
                            nic=same[0].driver.interface,
                            option=_OPTION[which],
                            most=most,
                        ),
                    ),
                    f"root on {_nodes(same)}",
                    is_change=True,
                ),
            ],
            f"ring {at:,}",
            ring_status(same[0].node, losing),
        )


_FIRST, _SECOND = "receive ring", "second receive ring"
_OPTION = {_FIRST: "rx", _SECOND: "rx-jumbo"}


def _ring(nic: _Nic) -> tuple[int, int, str] | None:
    """Return entries, maximum and name of a ring that is smaller than it can be."""
    driver = nic.driver
    for at, most, which in (
        (driver.rx_ring, driver.rx_ring_most, _FIRST),
        (driver.rx_jumbo_ring, driver.rx_jumbo_ring_most, _SECOND),
    ):
        if at and most and at < most:
            return at, most, which
    return None


def _same(network: PrivateNetwork, nics: Sequence[_Nic]) -> Finding:
    return SAME.finding(
        f"The NICs of {network.name} have the driver {_version(nics[0])} on {named((n.node for n in nics), 'node')}.",
        subject=f"{network.interface}: {nics[0].driver.driver}",
        seen=some(
            [
                f"{nic.node}: {nic.driver.interface} {_version(nic)}, {_pause_text(nic)}, {hash_text(nic.driver)}"
                for nic in nics
            ]
        ),
        evidence=_evidence(nics),
        network=network.name,
        observed=read_on(SAME.code, [nic.node for nic in nics], network.name),
    )


def _kernels(cluster: Cluster) -> Iterator[Finding]:
    nodes = [node for node in cluster.read_nodes() if node.kernel_release]
    groups = alike(nodes, lambda node: node.kernel_release)
    evidence = [(node.name, "sysctls") for node in nodes]
    if len(groups) > 1:
        each = "; ".join(f"{g[0].kernel_release} on {named((n.name for n in g), 'node')}" for g in groups)
        yield KERNELS.finding(
            f"The nodes run different kernels: {each}.",
            subject=f"{len(groups)} kernels",
            data={"kernels": len(groups)},
            seen=some([f"{node.name}: {node.kernel_release}" for node in nodes]),
            expected=("One kernel on all nodes, except during a rolling update",),
            evidence=evidence,
            nodes=[node.name for node in nodes],
            observed=[state("kernel", node.name, value=node.kernel_release) for node in nodes],
        )
    elif len(nodes) > 1:
        yield SAME_KERNEL.finding(
            f"{named((n.name for n in nodes), 'node')} run the same kernel, {nodes[0].kernel_release}.",
            subject="one kernel",
            evidence=evidence,
            observed=read_on("kernel", [node.name for node in nodes], value=nodes[0].kernel_release),
        )


def _finding(
    kind: Kind,
    title: str,
    network: PrivateNetwork,
    nics: Sequence[_Nic],
    seen: Sequence[str],
    expected: str,
    steps: Sequence[NextStep],
    subject: str,
    status: Status | None = None,
) -> Finding:
    nodes = list(dict.fromkeys(nic.node for nic in nics))
    return kind.finding(
        title if title.endswith(".") else f"{title}.",
        status=status,
        subject=f"{briefly((nic.driver.interface for nic in nics), 'NIC')} {briefly(nodes, 'node')}: {subject}",
        data={"interfaces": len(nics)},
        seen=some(seen),
        expected=(expected,),
        next=steps,
        evidence=_evidence(nics),
        network=network.name,
        nodes=nodes,
        extent=(len(nics), "interfaces") if (status or kind.status) is Status.WARN else None,
        observed=[state(kind.code, nic.node, network.name, nic.driver.interface, nic.driver.driver) for nic in nics],
    )


def _group(group: Sequence[_Nic], text: Callable[[_Nic], str]) -> str:
    return f"{text(group[0])} for {_labels(group)}"


def _labels(nics: Sequence[_Nic]) -> str:
    return nics_named([(nic.node, nic.driver.interface) for nic in nics], "NIC")


def _commands(script: str, nics: Sequence[_Nic]) -> tuple[str, ...]:
    return for_each(script, nic=(nic.driver.interface for nic in nics))


def _nodes(nics: Sequence[_Nic]) -> str:
    return named((nic.node for nic in nics), "node")


def _evidence(nics: Sequence[_Nic]) -> list[tuple[str, str]]:
    return topics_of((nic.node for nic in nics), HOST_TOPIC)

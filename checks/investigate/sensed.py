"""What the facts of a sense show: the signs of the step, and the facts of a session for the checks that judge them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from checks.model.facts import Cluster, CounterChanges, KernelDrops, NodeOptics, UnreadNode
from checks.model.investigation import SensedFact, SessionRecord, SessionStep
from checks.model.sense_steps import DROPS_STEP, OPTICS_STEP
from checks.model.signs import Sign, SignAt
from checks.rules.driver_counts import is_known
from checks.rules.drop_reasons import kind_of, signs_of
from checks.rules.nic_counts import NicFault, faults_of, loss_ends, private_nics_counted
from checks.rules.optical_power import OpticalValue, beyond_limits, is_measured, private_modules

Signs = tuple[tuple[SignAt, ...], tuple[SignAt, ...]]
"""The signs that were seen, and those that could be seen."""


def drop_signs(step: SessionStep, drops: KernelDrops) -> Signs:
    """Return what the kernel of a receiver shows of the datagrams of a step.

    No sign could be seen where the kernel has no reasons, or where none of the datagrams was seen at the NIC: then they
    did not arrive, or came through a NIC of another name.
    """
    if not drops.has_reasons or not sum(f.number for f in drops.followed if not f.is_sent):
        return (), ()
    shown = {sign for d in drops.drops if d.nic and not d.is_sent for sign in signs_of(kind_of(d.code))}
    return tuple(at for at in step.reads if at.sign in shown), step.reads


def optic_signs(step: SessionStep, cluster: Cluster) -> Signs:
    """Return whether the light at a place is out of the specification of its module, with the optics of the cluster.

    A warning of the module is no sign: nothing else explains this one, so it must be beyond doubt.
    """
    places = {(at.network, at.node) for at in step.reads if at.sign is Sign.OPTICS}
    measured = [of for of in private_modules(cluster) if is_measured(of.module) and (of.network, of.node) in places]
    out = {
        (b.of.network, b.of.node)
        for b in beyond_limits(measured)
        if b.is_alarm and b.what is not OpticalValue.TEMPERATURE
    }
    looked = {(of.network, of.node) for of in measured if of.module.received_limits or of.module.sent_limits}
    return (
        tuple(at for at in step.reads if at.place in out),
        tuple(at for at in step.reads if at.place in looked),
    )


def pause_signs(step: SessionStep, cluster: Cluster) -> Signs:
    """Return whether pause frames stop the packets of a place, by the counters of its driver in the cluster's interval.

    Those for classes in which none of its packets travel stop nothing of the interconnect.
    """
    changes = cluster.counters.nodes if isinstance(cluster.counters, CounterChanges) else ()
    nics = [nic for nic in private_nics_counted(cluster, changes) if nic.driver and is_known(nic.driver.driver)]
    ends = loss_ends(cluster)
    paused = {
        (nic.network, nic.node)
        for nic in nics
        for fault in faults_of(nic, cluster.thresholds, ends)
        if fault.fault in (NicFault.PAUSE, NicFault.CLASS_PAUSED)
    }
    looked = {(nic.network, nic.node) for nic in nics}
    own = [at for at in step.reads if at.sign is Sign.PAUSED]
    return tuple(at for at in own if at.place in paused), tuple(at for at in own if at.place in looked)


def with_sensed(cluster: Cluster, record: SessionRecord) -> Cluster:
    """Return the facts of a cluster with those that the steps of a session read, the last of each node."""
    optics = _last(fact for a in record.answers if a.step.declared == OPTICS_STEP for fact in a.facts)
    drops = _last(fact for a in record.answers if a.step.declared == DROPS_STEP for fact in a.facts)
    of_optics = tuple(f for f in optics if isinstance(f, NodeOptics | UnreadNode))
    of_drops = tuple(f for f in drops if isinstance(f, KernelDrops | UnreadNode))
    return replace(
        cluster, **({"optics": of_optics} if of_optics else {}), **({"kernel_drops": of_drops} if of_drops else {})
    )


def _last(facts: Iterable[SensedFact]) -> Sequence[SensedFact]:
    return tuple({fact.name: fact for fact in facts}.values())

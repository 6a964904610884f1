"""Do the transceivers of the private NICs send and receive enough light?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, SkippedKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, UnreadNode
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import for_each
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import alike, briefly, named, some, topics_of
from checks.plugins.shared.host_facts import not_known_findings
from checks.rules.observed.states import read_at, state
from checks.rules.optical_power import (
    BeyondLimit,
    Dimmer,
    OpticalValue,
    PrivateModule,
    beyond_limits,
    decibels,
    dimmer_than_others,
    is_measured,
    private_modules,
    read_optics_of,
)

TOPIC = "optics"
_SFF = "SFF-8472, SFF-8636 and CMIS: alarm and warning thresholds of a module"

BRIGHT = PassKind("IC-OPTICS-001", "The transceivers of the private NICs are within their limits")
POWER = Kind(
    "IC-OPTICS-002",
    "The light of a transceiver is outside of the module's limits",
    "Frames are damaged or lost where the light is too weak or too strong. Too little arrives through a dirty "
    "connector, a bent fibre or from a weak laser at the other end; too little is sent by a laser that ages.",
    (_SFF, "MOS 563566.1, cause 1"),
)
TEMPERATURE = Kind(
    "IC-OPTICS-003",
    "A transceiver is too hot or too cold",
    "A laser outside of its temperatures changes its power and its wavelength, and ages sooner.",
    (_SFF,),
)
DIM = InfoKind(
    "IC-OPTICS-004",
    "A private NIC receives far less light than those of the other nodes",
    "The module is within its limits, and its reserve is smaller than that of the others: a dirty "
    "connector, a bent fibre or a longer way.",
)
NOT_KNOWN = UnknownKind("IC-OPTICS-005", "The transceivers of the private NICs are not known")
NONE = SkippedKind("IC-OPTICS-006", "No transceiver of a private NIC measures its light")


@check(
    "optics",
    question="Do the transceivers of the private NICs send and receive enough light?",
    needs=("nodes", "networks", "optics"),
    about=(ConditionKind.NIC_ERRORS, ConditionKind.LINK),
    kinds=(BRIGHT, POWER, TEMPERATURE, DIM, NOT_KNOWN, NONE),
)
def optics(cluster: Cluster) -> Iterator[Finding]:
    """Compares the power that each transceiver sends and receives, and its temperature, with the module's own limits.

    Beyond an alarm limit is a failure, beyond a warning limit a warning. A NIC that receives half the light of the
    other nodes' NICs, of the same kind and network, is reported for information. Where some lanes have light, those
    without any are not in use. Copper cables, and modules without diagnostics, are SKIPPED. `ethtool -m` reads the
    module over its own slow bus and needs root: only a step of `racwire investigate` reads it, with a consent.
    """
    modules = private_modules(cluster)
    measured = [of for of in modules if is_measured(of.module)]
    beyond = list(beyond_limits(measured))
    for same in alike(beyond, lambda b: (b.of.network, b.what, b.is_low, b.status)):
        yield _beyond(same)
    dimmer = [d for d in dimmer_than_others(measured) if not any(b.of is d.of for b in beyond)]
    for each in dimmer:
        yield _dim(each)
    fine = [of for of in measured if not any(b.of is of for b in beyond)]
    if fine:
        yield BRIGHT.finding(
            f"The transceivers of {named((of.place for of in fine), 'private NIC')} send and receive light within "
            "their limits, as far as they have limits.",
            subject=f"{counted(len(fine), 'transceiver')} within limits",
            data={"transceivers": len(fine)},
            seen=some([_line(of) for of in fine]),
            evidence=topics_of((of.node for of in fine), TOPIC),
            observed=read_at(BRIGHT.code, [(of.node, of.network) for of in fine]),
        )
    unread = (
        {o.name: o for o in cluster.optics if isinstance(o, UnreadNode)} if isinstance(cluster.optics, tuple) else {}
    )
    yield from not_known_findings(NOT_KNOWN, "The transceivers of {} are", unread, "optics", TOPIC)
    if not measured and not unread:
        yield _none(cluster, modules)


def _none(cluster: Cluster, modules: Sequence[PrivateModule]) -> Finding:
    copper = [of.place for of in modules if of.module.is_copper]
    silent = [f"{w.interface} of {o.name}: {w.reason}" for o in read_optics_of(cluster) for w in o.without]
    dark = [of.place for of in modules if not of.module.is_copper]
    return NONE.finding(
        "No transceiver of a private NIC measures its light"
        + (f"; copper at {named(copper, 'private NIC')}." if copper else "."),
        subject="no light measured",
        seen=some([*silent, *(f"{place}: no diagnostics" for place in dark), *(f"{p}: copper" for p in copper)]),
        evidence=topics_of((o.name for o in read_optics_of(cluster)), TOPIC),
    )


def _beyond(same: Sequence[BeyondLimit]) -> Finding:
    first = same[0]
    places = list(dict.fromkeys(b.of.place for b in same))
    nodes = list(dict.fromkeys(b.of.node for b in same))
    worst = max(
        same, key=lambda b: abs(b.value - b.limit) if _is_heat(b) else abs(decibels(b.value) - decibels(b.limit))
    )
    kind = TEMPERATURE if _is_heat(first) else POWER
    limits = "alarm" if first.is_alarm else "warning"
    return kind.finding(
        f"The transceiver of {named(places, 'private NIC')} {_does(worst)}, {'below' if worst.is_low else 'above'} its "
        f"{limits} limit of {_value(worst.limit, first.what)}.",
        status=first.status,
        subject=f"{briefly(places, 'NIC')}: {_value(worst.value, first.what)}",
        data={
            "transceivers": len(places),
            _VALUE_NAMES[first.what]: _number(worst),
            f"limit_{_UNITS[first.what]}": _limit(worst),
        },
        seen=some([_beyond_line(b) for b in same]),
        expected=("Within the limits of the module",),
        next=_steps(first.what, same),
        evidence=topics_of(nodes, TOPIC),
        network=first.of.network,
        nodes=nodes,
        extent=(len(places), "transceivers"),
        observed=[state(kind.code, b.of.node, b.of.network, b.of.module.interface, b.value) for b in same],
    )


_UNITS = {OpticalValue.SENT: "dbm", OpticalValue.RECEIVED: "dbm", OpticalValue.TEMPERATURE: "celsius"}
_VALUE_NAMES = {
    OpticalValue.SENT: "sent_dbm",
    OpticalValue.RECEIVED: "received_dbm",
    OpticalValue.TEMPERATURE: "temperature_celsius",
}


def _is_heat(beyond: BeyondLimit) -> bool:
    return beyond.what is OpticalValue.TEMPERATURE


def _number(beyond: BeyondLimit) -> float:
    return beyond.value if _is_heat(beyond) else round(decibels(beyond.value), 2)


def _limit(beyond: BeyondLimit) -> float:
    return beyond.limit if _is_heat(beyond) else round(decibels(beyond.limit), 2)


def _value(value: float, what: OpticalValue) -> str:
    if what is OpticalValue.TEMPERATURE:
        return f"{value:.1f} degrees C"
    return f"{decibels(value):.1f} dBm" if value > 0 else "no light"


def _does(beyond: BeyondLimit) -> str:
    match beyond.what:
        case OpticalValue.TEMPERATURE:
            return f"has {_value(beyond.value, beyond.what)}"
        case OpticalValue.SENT:
            return f"sends {_value(beyond.value, beyond.what)}"
        case OpticalValue.RECEIVED:
            return f"receives {_value(beyond.value, beyond.what)}"


def _beyond_line(beyond: BeyondLimit) -> str:
    lane = f" lane {beyond.lane}" if beyond.lane else ""
    return (
        f"{beyond.of.node}: {beyond.of.module.interface}{lane} {_does(beyond)}, limit "
        f"{_value(beyond.limit, beyond.what)}"
    )


def _dim(dim: Dimmer) -> Finding:
    of = dim.of
    less = decibels(dim.others_mw) - decibels(dim.received_mw)
    return DIM.finding(
        f"{of.place} receives {less:.1f} dB less light than the NICs of the other nodes on {of.network}, within its "
        "limits.",
        subject=f"{of.place}: {less:.1f} dB less",
        data={"less_db": round(less, 1), "received_dbm": round(decibels(dim.received_mw), 2)},
        seen=(f"{_line(of)}; the others mostly {decibels(dim.others_mw):.1f} dBm",),
        expected=("About as much light as the others",),
        next=[NextStep(f"Have the connectors of the fibre of {of.place} wiped when its link may go down.")],
        evidence=topics_of([of.node], TOPIC),
        network=of.network,
        nodes=[of.node],
        extent=(less, "dB"),
        observed=[state(DIM.code, of.node, of.network, of.module.interface, dim.received_mw)],
    )


def _line(of: PrivateModule) -> str:
    module = of.module
    sent = [decibels(lane.sent_mw) for lane in module.lanes if lane.sent_mw]
    received = [decibels(lane.received_mw) for lane in module.lanes if lane.received_mw]
    parts = [
        f"sends {_from_to(sent)}" if sent else "",
        f"receives {_from_to(received)}" if received else "receives no light",
        f"{module.temperature_c:.1f} degrees C" if module.temperature_c is not None else "",
    ]
    return f"{of.node}: {module.interface} {module.kind} {', '.join(filter(None, parts))}"


def _from_to(powers: Sequence[float]) -> str:
    low, high = f"{min(powers):.1f}", f"{max(powers):.1f}"
    return f"{low} dBm" if low == high else f"{low} to {high} dBm"


def _steps(what: OpticalValue, same: Sequence[BeyondLimit]) -> list[NextStep]:
    nics = list(dict.fromkeys(b.of.module.interface for b in same))[:3]
    nodes = named((b.of.node for b in same), "node")
    look = NextStep("Read it again.", for_each("ethtool -m {nic}", nic=nics), f"root on {nodes}")
    places = listed(list(dict.fromkeys(b.of.place for b in same))[:3])
    match what:
        case OpticalValue.TEMPERATURE:
            ask = NextStep(f"Check the air flow of the node and its slot at {places}.")
        case OpticalValue.SENT:
            ask = NextStep(f"Exchange the transceiver of {places} when its link may go down.")
        case OpticalValue.RECEIVED:
            ask = NextStep(
                f"Ask the network team how much light the switch port of {places} sends; then wipe the connectors and "
                "exchange the fibre, one at a time, when the link may go down."
            )
    return [look, ask]

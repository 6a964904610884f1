"""The metrics of a comparison of recordings: each with its unit, its formula, and its better direction.

A formula uses the counts per second of one stretch, and divides sums by sums. The mean of the ratios of single seconds
would give a second with three blocks the same weight as a second with three thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checks.rules.cache_fusion import (
    BLOCKS_LOST,
    CLUSTER_WAIT,
    COMMITS,
    CR_RECEIVED,
    CR_SERVED,
    CURRENT_RECEIVED,
    CURRENT_SERVED,
    DB_TIME,
    PX_SENT,
    ROLLBACKS,
    USERS,
)
from checks.rules.interconnect_users import CACHE, DLM
from checks.traffic.compare.readings import Rates
from checks.traffic.compare.run import Better

LOAD = "Load"
"""The group of the load on the interconnect, which must be equal in both runs."""
NETWORK, KERNEL, CPU, DATABASE, LATENCY = "Network", "Kernel", "CPU", "Database", "Latency"
PACKETS_PER_BLOCK = "packets per block received"
DATAGRAMS_IN = "UDP datagrams in"
BLOCKS = "blocks"
"""The name in a node's rates for the blocks that its instances received."""

_LOWER = Better.LOWER
_LEAST_BYTES_PER_S = 10_000
"""The private traffic that the formulas per MB require: with less, the CPU time was not spent on packets."""


@dataclass(frozen=True)
class Metric:
    """One metric. A formula raises KeyError for a count that was not measured, ZeroDivisionError for a ratio to 0."""

    name: str
    unit: str
    group: str
    formula: Callable[[Rates], float]
    better: Better = Better.NEITHER
    is_control: bool = False
    note: str = ""
    adds_up: bool = True
    """Whether the metric also exists for all nodes or instances together."""


def packets_per_block(rates: Rates) -> float:
    """Return the packets per received block: 6 for 8 KB at MTU 1500, 1 at 9000.

    A reassembled packet counts as its fragments, any other block as one packet. Where there are more reassembled
    packets than blocks (messages, pings of 8 KB), only the share of the blocks counts. Raises KeyError where a count is
    missing, and ZeroDivisionError without blocks.
    """
    blocks, fragments, whole = rates[BLOCKS], rates["Ip.ReasmReqds"], rates["Ip.ReasmOKs"]
    if whole > blocks:
        return fragments / whole
    return (fragments + blocks - whole) / blocks


def _per(name: str, of: str, times: float = 1.0) -> Callable[[Rates], float]:
    return lambda rates: times * rates[name] / rates[of]


def _rate(name: str, times: float = 1.0) -> Callable[[Rates], float]:
    return lambda rates: times * rates[name]


def _per_mb(name: str) -> Callable[[Rates], float]:
    def formula(rates: Rates) -> float:
        moved = rates["private in bytes"] + rates["private out bytes"]
        if moved < _LEAST_BYTES_PER_S:
            raise ZeroDivisionError
        return 1000 * rates[name] / (moved / 1e6)

    return formula


def _received(rates: Rates) -> float:
    return rates[CR_RECEIVED] + rates[CURRENT_RECEIVED]


NODE_METRICS = (
    Metric(
        PACKETS_PER_BLOCK, "", NETWORK, packets_per_block,
        note="Fragments of reassembled packets, and whole packets, for each block that the node's instances received.",
    ),
    Metric(
        "packets in per block", "", NETWORK, _per("private in packets", BLOCKS),
        note="All packets received on private interfaces, messages and heartbeats included, for each block.",
    ),
    Metric("private in", "Mb/s", NETWORK, _rate("private in bytes", 8e-6)),
    Metric("private out", "Mb/s", NETWORK, _rate("private out bytes", 8e-6)),
    Metric("packets in", "1/s", NETWORK, _rate("private in packets")),
    Metric("packets out", "1/s", NETWORK, _rate("private out packets")),
    Metric("mean packet in", "B", NETWORK, _per("private in bytes", "private in packets")),
    Metric("drops and errors", "1/s", NETWORK, _rate("private faults"), _LOWER),
    Metric("fragments in", "1/s", KERNEL, _rate("Ip.ReasmReqds")),
    Metric("fragments made", "1/s", KERNEL, _rate("Ip.FragCreates")),
    Metric("reassembly failed", "1/s", KERNEL, _rate("Ip.ReasmFails"), _LOWER),
    Metric("reassembly timed out", "1/s", KERNEL, _rate("Ip.ReasmTimeout"), _LOWER),
    Metric(DATAGRAMS_IN, "1/s", KERNEL, _rate("Udp.InDatagrams"), note="A block is one datagram at any MTU."),
    Metric("UDP datagrams out", "1/s", KERNEL, _rate("Udp.OutDatagrams")),
    Metric("receive-buffer errors", "1/s", KERNEL, _rate("Udp.RcvbufErrors"), _LOWER),
    Metric("softnet dropped", "1/s", KERNEL, _rate("Softnet.Dropped"), _LOWER),
    Metric("CPU busy", "%", CPU, _per("cpu busy", "cpu", 100), _LOWER),
    Metric("CPU softirq", "%", CPU, _per("cpu softirq", "cpu", 100), _LOWER),
    Metric(
        "CPU per MB", "ms", CPU, _per_mb("cpu busy"), _LOWER,
        note="All CPU time of the node, divided by the traffic of its private interfaces in both directions.",
    ),
    Metric(
        "softirq per MB", "ms", CPU, _per_mb("cpu softirq"), _LOWER,
        note="CPU time in soft interrupts, which receive and reassemble packets, divided by the private traffic.",
    ),
    Metric("load average", "", CPU, _rate("load"), _LOWER, adds_up=False),
)  # fmt: skip

INSTANCE_METRICS = (
    Metric(
        "blocks received", "1/s", LOAD, _received, is_control=True,
        note="The load: for the same number of requested blocks, the MTU does not change how many arrive.",
    ),
    Metric("blocks served", "1/s", DATABASE, lambda rates: rates[CR_SERVED] + rates[CURRENT_SERVED]),
    Metric("CR receive time", "ms", DATABASE, _per("gc cr block receive time", CR_RECEIVED, 10), _LOWER),
    Metric("current receive time", "ms", DATABASE, _per("gc current block receive time", CURRENT_RECEIVED, 10), _LOWER),
    Metric("blocks lost", "1/s", DATABASE, _rate(BLOCKS_LOST), _LOWER),
    Metric(
        "lost of 100,000 blocks", "", DATABASE,
        lambda rates: 1e5 * rates[BLOCKS_LOST] / (rates[BLOCKS_LOST] + _received(rates)), _LOWER,
    ),
    Metric(
        "transactions", "1/s", DATABASE, lambda rates: rates[COMMITS] + rates[ROLLBACKS], Better.HIGHER,
        note="User commits and rollbacks, as in AWR.",
    ),
    Metric("DB time per second", "s", DATABASE, _rate(DB_TIME, 0.01), note="Sessions in database calls on average."),
    Metric(
        "cluster waits of DB time", "%", DATABASE, _per(CLUSTER_WAIT, DB_TIME, 100), _LOWER,
        note="The waits for other instances: what a network could save at most.",
    ),
    Metric("messages sent", "1/s", DATABASE, lambda rates: rates["gcs messages sent"] + rates["ges messages sent"]),
    Metric("PX messages to other nodes", "1/s", DATABASE, _rate(PX_SENT)),
)  # fmt: skip

_SPOT = "Both directions, from one sample in about ten seconds."

USER_METRICS = (
    Metric("dlm messages", "1/s", DATABASE, _rate("dlm messages"), note=f"Messages of GCS and GES. {_SPOT}"),
    *(
        Metric(
            f"{user} on the interconnect", "Mb/s", DATABASE, _rate(f"{user} counted bytes", 8e-6),
            note=f"Of the connected instance, from the view SYS.RACWIRE_IC_CLIENTS. {_SPOT}",
        )
        for user in USERS
    ),
    *(
        Metric(
            f"{user} estimated", "Mb/s", DATABASE, _rate(f"{user} estimated bytes", 8e-6),
            note=f"Blocks of the block size, messages of 200 B. {_SPOT}",
        )
        for user in (CACHE, DLM)
    ),
)  # fmt: skip

PING_METRICS = (
    Metric(
        "ping 500 B", "ms", DATABASE, _per("500 B us", "500 B pings", 1e-3), _LOWER, is_control=True,
        note="The instances' own ping of 500 bytes: one packet at every MTU.",
    ),
    Metric("ping 8 KB", "ms", DATABASE, _per("8 KB us", "8 KB pings", 1e-3), _LOWER),
)  # fmt: skip

_OF_SERVICE = "Of all instances, from GV$SERVICE_STATS."
SERVICE_METRICS = (
    Metric(
        "DB time per second", "s", DATABASE, _rate("db us", 1e-6), note=f"Sessions in database calls. {_OF_SERVICE}",
        adds_up=False,
    ),
    Metric(
        "cluster waits of DB time", "%", DATABASE, _per("cluster us", "db us", 100), _LOWER,
        note=f"The waits for other instances. {_OF_SERVICE}", adds_up=False,
    ),
    Metric(
        "blocks received", "1/s", DATABASE, _rate("blocks"), note=f"From other instances. {_OF_SERVICE}", adds_up=False
    ),
)  # fmt: skip

_OPEN_LOOP = "Open loop: from when the ping was due. The mean of the samples, weighted by their numbers of answers."
_QUANTILES = {
    "p50": _OPEN_LOOP,
    "p99": f"{_OPEN_LOOP} Of samples with at least 100 answers.",
    "longest": f"{_OPEN_LOOP} The longest of each sample.",
}


def _pings(size: str, name: str, is_control: bool) -> Iterator[Metric]:
    """Yield the figures of the round trips of one size; `size` is its name in the rates."""
    for quantile, note in _QUANTILES.items():
        formula = _per(f"{size} {quantile} us", f"{size} {quantile} answers")
        yield Metric(f"{name} {quantile}", "us", LATENCY, formula, _LOWER, is_control, note)


PATH_METRICS = (
    *_pings("small", "small ping", is_control=True),
    *_pings("block", "block-sized ping", is_control=False),
    Metric(
        "small pings lost", "%", LATENCY, lambda r: 100 * (1 - min(r["small received"] / r["small sent"], 1)), _LOWER
    ),
    Metric(
        "block-sized pings lost", "%", LATENCY, lambda r: 100 * (1 - min(r["block received"] / r["block sent"], 1)),
        _LOWER,
    ),
)  # fmt: skip

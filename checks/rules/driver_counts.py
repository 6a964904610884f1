"""What the counters of NIC drivers mean: their names differ from driver to driver (`ethtool -S`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from functools import cache

from checks.model.facts import DriverCounters


class DriverSign(Enum):
    """What a counter of a driver counts."""

    CORRUPT = "frames that arrived damaged"
    NO_BUFFER = "packets that arrived while no receive buffer was free"
    PORT_BUFFER = "packets dropped in the buffer of the NIC's port, before any receive ring"
    TOO_LONG = "frames longer than the NIC accepts"
    LINK = "the link went down"
    HUNG = "the send queue hung, and the driver reset the NIC"
    FAULT = "faults that one end of the link reported"
    DROPPED = "packets that arrived, and that the NIC or its driver dropped"
    NOT_SENT = "packets that the NIC refused to send"
    PAUSED = "pause frames received: the switch port asks the NIC to wait"
    PAUSES = "pause frames sent: the NIC asks the switch port to wait"
    LIMITED = "packets queued or dropped above a limit of the cloud's instance"


_INTEL_PAUSE = {
    DriverSign.PAUSED: "rx_flow_control_xoff|rx_pb_[0-7]_pxoff",
    DriverSign.PAUSES: "tx_flow_control_xoff|tx_pb_[0-7]_pxoff",
}
_IXGBE = {
    DriverSign.CORRUPT: "rx_crc_errors",
    DriverSign.NO_BUFFER: "rx_missed_errors|rx_no_dma_resources|alloc_rx_(buff|page)_failed",
    DriverSign.TOO_LONG: "rx_(long_)?length_errors",
    DriverSign.HUNG: "tx_timeout_count",
    **_INTEL_PAUSE,
}
_IGB = {
    DriverSign.CORRUPT: "rx_(crc|align|frame)_errors",
    DriverSign.NO_BUFFER: "rx_missed_errors|alloc_rx_buff_failed|rx_queue_[0-9]+_(drops|alloc_failed)",
    DriverSign.TOO_LONG: "rx_long_length_errors",
    DriverSign.HUNG: "tx_timeout_count",
    **_INTEL_PAUSE,
}
_MLX4 = {
    DriverSign.TOO_LONG: "rx_jabbers|rx_out_range_length_error",
    DriverSign.HUNG: "tx_timeout",
    DriverSign.PAUSED: "rx_pause(_prio_[0-7])?",
    DriverSign.PAUSES: "tx_pause(_prio_[0-7])?",
}
_GVE = {
    DriverSign.NO_BUFFER: r"rx_(skb|buf)_alloc_fail|rx_(queue_drop_cnt|no_buffers_posted)\[[0-9]+\]",
    DriverSign.TOO_LONG: r"rx_drops_packet_over_mru\[[0-9]+\]",
    DriverSign.DROPPED: r"rx_desc_err_dropped_pkt|rx_drops_invalid_checksum\[[0-9]+\]",
    DriverSign.HUNG: "tx_timeouts",
}
_IAVF = {DriverSign.NO_BUFFER: "rx_discards"}
_DRIVERS: Mapping[str, Mapping[DriverSign, str]] = {
    "mlx5_core": {
        DriverSign.CORRUPT: "rx_(crc_errors|symbol_err|pcs_symbol_err)_phy",
        DriverSign.NO_BUFFER: "rx_out_of_buffer|dev_out_of_buffer|rx_buff_alloc_err",
        DriverSign.PORT_BUFFER: "rx_discards_phy|rx_prio[0-7]_discards|outbound_pci_buffer_overflow",
        DriverSign.TOO_LONG: "rx_oversize_pkts_(phy|buffer|sw_drop)|rx_out_of_range_len_phy",
        DriverSign.LINK: "link_down_events_phy",
        DriverSign.PAUSED: "rx_(pause_ctrl_phy|global_pause|prio[0-7]_pause)",
        DriverSign.PAUSES: "tx_(pause_ctrl_phy|global_pause|prio[0-7]_pause)",
    },
    "mlx4_core": _MLX4,
    "mlx4_en": _MLX4,
    "ixgbe": _IXGBE,
    "ixgbevf": {DriverSign.NO_BUFFER: "alloc_rx_(buff|page)_failed"},
    "igb": _IGB,
    "e1000e": _IGB,
    "e1000": _IGB,
    "i40e": {
        DriverSign.CORRUPT: r"port\.(rx_crc_errors|illegal_bytes)",
        DriverSign.PORT_BUFFER: r"port\.rx_dropped",
        DriverSign.TOO_LONG: r"port\.rx_(oversize|jabber|length_errors)",
        DriverSign.FAULT: r"port\.mac_(local|remote)_faults",
        DriverSign.HUNG: r"port\.tx_timeout",
        DriverSign.PAUSED: r"port\.(link_xoff_rx|rx_priority_[0-7]_xoff(_rx)?)",
        DriverSign.PAUSES: r"port\.(link_xoff_tx|tx_priority_[0-7]_xoff(_tx)?)",
    },
    "ice": {
        DriverSign.CORRUPT: r"(rx_crc_errors|illegal_bytes)\.nic",
        DriverSign.PORT_BUFFER: r"rx_dropped\.nic",
        DriverSign.TOO_LONG: r"rx_(oversize|jabber|length_errors|len_errors)\.nic",
        DriverSign.FAULT: r"mac_(local|remote)_faults\.nic",
        DriverSign.HUNG: r"tx_timeout\.nic",
        DriverSign.PAUSED: r"(link_xoff_rx|rx_priority_[0-7]_xoff)\.nic",
        DriverSign.PAUSES: r"(link_xoff_tx|tx_priority_[0-7]_xoff)\.nic",
    },
    "iavf": _IAVF,
    "i40evf": _IAVF,
    "bnxt_en": {
        DriverSign.CORRUPT: "rx_(fcs|align)_err_frames|rx_pcs_symbol_err",
        DriverSign.NO_BUFFER: "rx_total_(discard_pkts|ring_discards|oom_discards|buf_errors)",
        DriverSign.PORT_BUFFER: "rx_stat_discard",
        DriverSign.TOO_LONG: "rx_(ovrsz|mtu_err|jbr)_frames",
        DriverSign.LINK: "link_down_events",
        DriverSign.PAUSED: "rx_(pause|pfc)_frames",
        DriverSign.PAUSES: "tx_(pause|pfc)_frames",
    },
    "bnx2x": {
        DriverSign.CORRUPT: "rx_(crc|align)_errors",
        DriverSign.NO_BUFFER: "rx_discards|rx_skb_alloc_discard",
        DriverSign.PORT_BUFFER: "rx_brb_(discard|truncate)",
        DriverSign.TOO_LONG: "rx_oversize_packets|rx_jabbers",
        DriverSign.PAUSED: "rx_pause_frames|pfc_frames_received",
        DriverSign.PAUSES: "tx_pause_frames|pfc_frames_sent",
    },
    "tg3": {
        DriverSign.CORRUPT: "rx_(fcs|align)_errors",
        DriverSign.NO_BUFFER: "rx_discards",
        DriverSign.TOO_LONG: "rx_frame_too_long_errors|rx_jabbers",
        DriverSign.PAUSED: "rx_xoff_pause_rcvd",
        DriverSign.PAUSES: "tx_xoff_sent",
    },
    "be2net": {
        DriverSign.CORRUPT: "rx_crc_errors|rx_alignment_symbol_errors",
        DriverSign.NO_BUFFER: "rx_drops_no_erx_descr|rxq[0-9]+: rx_drops_no_frags",
        DriverSign.PORT_BUFFER: "rx_drops_no_pbuf|(rx_input|rxpp|pmem)_fifo_overflow_drop",
        DriverSign.TOO_LONG: "rx_drops_mtu|rx_frame_too_long|jabber_events",
        DriverSign.PAUSED: "rx_(priority_)?pause_frames",
        DriverSign.PAUSES: "tx_(priority_)?pauseframes",
    },
    "enic": {DriverSign.CORRUPT: "rx_crc_errors", DriverSign.NO_BUFFER: "rx_no_bufs"},
    "qede": {
        DriverSign.CORRUPT: "rx_(crc|align)_errors",
        DriverSign.NO_BUFFER: "no_buff_discards",
        DriverSign.PORT_BUFFER: "brb_(truncates|discards)",
        DriverSign.TOO_LONG: "rx_oversize_packets|rx_jabbers",
        DriverSign.PAUSED: "rx_pause_frames",
        DriverSign.PAUSES: "tx_pause_frames",
    },
    "sfc": {
        DriverSign.CORRUPT: "port_rx_bad",
        DriverSign.NO_BUFFER: "port_rx_nodesc_drops",
        DriverSign.PORT_BUFFER: "port_rx_overflow",
        DriverSign.TOO_LONG: "port_rx_gtjumbo",
        DriverSign.PAUSED: "port_rx_pause",
        DriverSign.PAUSES: "port_tx_pause",
    },
    "cxgb4": {
        DriverSign.CORRUPT: "rx_(fcs|symbol)_errors",
        DriverSign.PORT_BUFFER: "rx_bg[0-3]_frames_(dropped|trunc)",
        DriverSign.TOO_LONG: "rx_frames_too_long|rx_jabber_errors",
        DriverSign.PAUSED: "rx_(pause|ppp[0-7])_frames",
        DriverSign.PAUSES: "tx_(pause|ppp[0-7])_frames",
    },
    "ibmvnic": {
        DriverSign.CORRUPT: "(align|fcs)_errors",
        DriverSign.TOO_LONG: "too_long_frames",
        DriverSign.DROPPED: "internal_mac_rx_errors",
        DriverSign.NOT_SENT: "internal_mac_tx_errors|(late|excess)_collisions",
    },
    "ibmveth": {DriverSign.NO_BUFFER: "rx_no_buffer", DriverSign.DROPPED: "rx_invalid_buffer"},
    "qeth": {DriverSign.NO_BUFFER: "rx0 dropped, no memory"},
    "vmxnet3": {
        DriverSign.NO_BUFFER: "pkts rx (OOB|out of buf)|rx buf alloc fail",
        DriverSign.HUNG: "tx timeout count",
    },
    "virtio_net": {DriverSign.NO_BUFFER: "rx_drops|rx_queue_[0-9]+_drops|rx[0-9]+_drops"},
    "hv_netvsc": {DriverSign.NO_BUFFER: "rx_no_memory"},
    "mana": {
        DriverSign.NO_BUFFER: "hc_rx_discards_no_wqe",
        DriverSign.DROPPED: "hc_rx_(err_vport_disabled|pkt_drop_phy)|rx_[0-9]+_pkt_len0_err",
        DriverSign.NOT_SENT: "hc_tx_(err_[a-z_]+|pkt_drop_phy)|tx_cq_err",
        DriverSign.PAUSED: "hc_tc[0-7]_rx_pause_phy",
        DriverSign.PAUSES: "hc_tc[0-7]_tx_pause_phy",
    },
    "gve": _GVE,
    "gvnic": _GVE,
    "ena": {
        DriverSign.NO_BUFFER: "rx_drops|queue_[0-9]+_rx_(page_alloc_fail|skb_alloc_fail)",
        DriverSign.LIMITED: "(bw_in|bw_out|pps|conntrack)_allowance_exceeded",
    },
}
"""Whole names of counters, from the drivers' sources in Linux and their vendors' manuals. A driver has its name of
/sys, which is that of the bus where `ethtool -i` prints another (mlx4_core for mlx4_en, gvnic for older gve). Counters
that repeat others, or count what is no loss, are left out: filtered multicast, retried transmissions, frames that
waited in the NIC until its ring had a buffer (rx_no_buffer_count of Intel), and what the kernel counts as tx_dropped
(tx_no_space and vf_tx_dropped of hv_netvsc, whose rx_comp_busy and tx_send_full lose nothing)."""
_REPEATED = frozenset({"ena", "virtio_net", "iavf", "i40evf", "qeth"})
"""Drivers that count packets without a buffer as the kernel's rx_dropped, too."""


def driver_signs(counters: DriverCounters) -> dict[DriverSign, dict[str, int]]:
    """Return the counters of a NIC that mean something, by their meaning; empty for a driver that is not known."""
    found: dict[DriverSign, dict[str, int]] = {}
    for sign, pattern in _patterns(counters.driver).items():
        if grew := {name: n for name, n in counters.counts.items() if pattern.fullmatch(name)}:
            found[sign] = grew
    return found


def largest(counts: Mapping[str, int]) -> int:
    """Return how many packets some counters show: those of all queues or priorities together, and of counters that may
    count the same packet the largest."""
    families: Counter[str] = Counter()
    for name, number in counts.items():
        families[_NUMBER.sub("#", name)] += number
    return max(families.values(), default=0)


def counted_as_dropped(counters: DriverCounters) -> int:
    """Return how many packets of the kernel's rx_dropped a driver counts with their reason."""
    signs = driver_signs(counters)
    # mlx5 of newer kernels adds what the port dropped.
    without_buffer = signs.get(DriverSign.NO_BUFFER, {}) if counters.driver in _REPEATED else {}
    return largest(signs.get(DriverSign.PORT_BUFFER, {})) + largest(without_buffer)


def is_known(driver: str) -> bool:
    """Return whether the meaning of the counters of a driver is known."""
    return driver in _DRIVERS


def known_names() -> list[str]:
    """Return the patterns of all names with a meaning: those that have to be read."""
    return sorted({pattern for signs in _DRIVERS.values() for pattern in signs.values()})


def meaning_of(driver: str, name: str) -> DriverSign | None:
    """Return what a counter of a driver counts; None where it is not known."""
    return next((sign for sign, pattern in _patterns(driver).items() if pattern.fullmatch(name)), None)


def meanings_of(name: str) -> frozenset[DriverSign]:
    """Return what a counter of this name counts in the drivers that have it, where the driver is not known."""
    return frozenset(sign for driver in _DRIVERS if (sign := meaning_of(driver, name)))


_NUMBER = re.compile("[0-9]+")


@cache
def _patterns(driver: str) -> dict[DriverSign, re.Pattern[str]]:
    return {sign: re.compile(pattern) for sign, pattern in _DRIVERS.get(driver, {}).items()}

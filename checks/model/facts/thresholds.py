"""The thresholds of the checks: names, defaults, bounds and sources."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from checks.model.facts.base import Fact


class Thresholds(Fact, frozen=True, kw_only=True):
    """The thresholds of the checks; each is a setting in the section `thresholds`.

    Only `checks.rules` reads them.
    """

    loss_fail_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Lost packets on a network, in percent, from which the finding is a failure instead of a "
            "warning. MOS 563566.1 calls any lost block a problem; 1 % of packets at MTU 1500 is about 6 % of 8 KB "
            "blocks.",
        ),
    ] = 1.0
    lost_blocks_fail_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Lost blocks, in percent of those received or lost, above which the finding is a failure "
            "instead of a warning. MOS 563566.1 has any lost block investigated; the 0.1 % is ours.",
        ),
    ] = 0.1
    few_blocks: Annotated[
        int,
        Meta(
            ge=1,
            description="Blocks received in the interval below which an instance counts as idle: averages of fewer "
            "blocks are imprecise, since the database counts their times in hundredths of a second.",
        ),
    ] = 100
    receive_attention_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="Average receive time of a block, in ms, above which the report remarks that it is longer "
            "than usual: on 10 Gbit/s under 1 ms is usual (current practice).",
        ),
    ] = 1.0
    receive_warn_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="Average receive time of a block, in ms, above which the finding is a warning. Enterprise "
            "Manager warns at 1 cs (metric help of 10.2 to 11.2); 10 ms is also the rule of thumb for CR blocks. Where "
            "every private NIC runs at 10 Gbit/s or more, receive_fast_warn_ms applies instead, unless you change this "
            "value.",
        ),
    ] = 10.0
    receive_fail_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="Average receive time of a block, in ms, above which the finding is a failure. Enterprise "
            "Manager is critical at 2 cs; 20 ms is also the rule of thumb for current blocks. Where every private NIC "
            "runs at 10 Gbit/s or more, receive_fast_fail_ms applies instead, unless you change this value.",
        ),
    ] = 20.0
    receive_fast_warn_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="The limit of receive_warn_ms where every private NIC of the cluster is known to run at 10 "
            "Gbit/s or more: Enterprise Manager's 1 cs is from the time of 1 Gbit/s. Ours.",
        ),
    ] = 3.0
    receive_fast_fail_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="The limit of receive_fail_ms where every private NIC of the cluster is known to run at 10 "
            "Gbit/s or more. Ours.",
        ),
    ] = 10.0
    receive_tail_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Waits for blocks, in percent, that may take longer than receive_fail_ms (on fast NICs "
            "receive_fast_fail_ms) while the average is good; above this share the finding is a warning. Ours.",
        ),
    ] = 2.0
    gc_wait_share_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Share of an event that is no plain transfer (congested, retry, ...) in the cluster wait time, "
            "in percent, from which it is reported: as a warning, unless blocks are only busy. Ours.",
        ),
    ] = 10.0
    recent_loss_h: Annotated[
        float,
        Meta(
            gt=0,
            le=87_840,
            description="Hours before the end of the history within which an earlier loss is a warning although "
            "no block is lost now; an older loss is reported for information. A day includes the load of every hour "
            "once. Ours.",
        ),
    ] = 24.0
    log_recent_min: Annotated[
        float,
        Meta(
            gt=0,
            le=1440,
            description="Minutes before the reading of an alert log within which a line can belong to the state of "
            "now; an older line is about the past. Twenty times the misscount of 30 s. Ours.",
        ),
    ] = 10.0
    log_before_end_min: Annotated[
        float,
        Meta(
            gt=0,
            le=60,
            description="Minutes before the end of an instance within which lines of any log are about the same "
            "trouble. An IPC send timeout takes 300 s and the eviction after it some minutes (MOS 1374110.1). Ours.",
        ),
    ] = 10.0
    ping_warn_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="Average time of an instance's ping to another instance (500 bytes or 8 KB), in ms, above "
            "which the finding is a warning. Common tools call over 1 ms bad.",
        ),
    ] = 1.0
    ping_fail_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="The same average above which the finding is a failure. Common tools call over 10 ms severe.",
        ),
    ] = 10.0
    ping_8k_warn_ratio: Annotated[
        float,
        Meta(
            gt=1,
            description="Average time of a ping of 8 KB divided by that of 500 bytes, above which the finding is a "
            "warning. In six fragments at MTU 1500 a ping takes several times as long. Ours.",
        ),
    ] = 3.0
    few_pings: Annotated[
        int,
        Meta(
            ge=1,
            description="Pings of a pair in the interval below which slow or missing answers are no fault, because one "
            "late answer would dominate the average. Two thirds of them suffice for quick answers to pass. Ours.",
        ),
    ] = 3
    reassembly_fail_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Failed reassemblies, in percent of the fragments, from which the finding is a failure "
            "instead of a warning. MOS 563566.1, cause 3, shows 9 %; the 1 % is ours.",
        ),
    ] = 1.0
    device_drop_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Packets that a NIC dropped over the history or in the interval, in percent, from which the "
            "finding is a warning. Linux also counts unwanted packets as dropped, so a few are normal. Ours.",
        ),
    ] = 0.01
    steal_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="CPU time that the hypervisor withheld from a node in the interval (steal), in percent of all "
            "CPU time, above which the finding is a warning. Ours.",
        ),
    ] = 5.0
    steal_fail_percent: Annotated[
        float,
        Meta(gt=0, le=100, description="The same share above which the finding is a failure. Ours."),
    ] = 10.0
    softirq_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Time of one CPU in soft interrupts, in percent of the interval, above which the finding is a "
            "warning: that CPU cannot take more packets. Ours.",
        ),
    ] = 90.0
    link_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Traffic of a private NIC in one direction, in percent of its speed, averaged over the "
            "interval, above which the finding is a warning. Ours.",
        ),
    ] = 70.0
    link_fail_percent: Annotated[
        float,
        Meta(gt=0, le=100, description="The same share above which the finding is a failure. Ours."),
    ] = 90.0
    swap_warn_pages: Annotated[
        int,
        Meta(
            ge=1,
            description="Pages a second that a node swaps in and also swaps out in the interval, from which the "
            "finding is a warning; a page has 4 KB on x86. Ours.",
        ),
    ] = 256
    swap_fail_pages: Annotated[
        int,
        Meta(ge=1, description="The same rate from which the finding is a failure. Ours."),
    ] = 2560
    memory_stall_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Time in which all running tasks of a node waited for memory, in percent of the interval "
            "(full of /proc/pressure/memory), above which the finding is a warning. Ours.",
        ),
    ] = 5.0
    allocation_stalls_warn: Annotated[
        int,
        Meta(
            ge=1,
            description="Allocations a second that had to free memory first (allocstall of /proc/vmstat), from which "
            "the finding is a warning. Ours.",
        ),
    ] = 10
    storage_packet_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Largest packet of a connection to storage, in percent of the MTU of the interface that "
            "carries it, below which the finding is a warning. TCP options and tunnels take a few percent. Ours.",
        ),
    ] = 75.0
    storage_retransmit_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Segments that a node sent again to storage in the interval, in percent of those sent, above "
            "which the finding is a warning; fewer than ten segments are no fault. Ours.",
        ),
    ] = 0.5

"""Which fields of the models are words: each field that holds text is a word, a key, or data, by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

APART = (
    "checks.sources",  # parsers: the texts of other programs
    "checks.investigate.outputs",  # parsers of what people paste
    "checks.traffic.imports",  # files of other tools
    "checks.redact",  # searches texts for names
    "checks.measure",  # what sends load
    "checks.report.html",  # renderers
    "checks.report.measured",
    "checks.report.pictures",
    "checks.report.pictures_samples",
    "checks.change.board.board_page",
)
"""Packages whose classes are not masked."""

WORDS = frozenset(
    """
    against although_loaded as_of at_load attest attest_asks attestation background because cautions change changed
    clause clean comparison consequence depends_on disturbed expected extent formula formulas goal harm headline
    how if_rolled_back incident inputs journal_remarks legend login_warning measured moment needed no_return
    note notes noun only_ipv4 open other_platform outage paragraphs peak predicted problem purpose question
    reasons remarks risk rows seen sentence sign stands stopped summary tells_apart text title warnings what when where
    price rights suspects then why why_fail why_warn worse
    """.split()  # noqa: SIM905
)
"""Texts that people read and nothing else does."""

KEYS = frozenset(
    """
    condition label reason sources subject topic
    """.split()  # noqa: SIM905
)
"""Texts that are compared for equality only: a waiver names a subject, and facts with one reason are one finding."""

EXCEPT = {
    "Observation.what": "data",
    "DrillEvent.what": "data",
    "ToolMessage.text": "data",  # what other programs printed
    "LogLine.text": "data",
    "Reading.text": "data",
    "FilterRule.text": "data",
    "FilterRule.sources": "data",
    "InstanceEnd.near": "data",
    "LogMessage.sample": "data",
    "Entry.text": "data",
    "Address.label": "data",
    "NodeMark.sign": "data",  # a code of three
    "Sampler.sources": "data",
    "AsmClient.asm": "data",
    "Named.started": "data",
    "Table.columns": "word",
    "PacketLoss.sizes": "word",
    "LatencyPath.refusal": "word",
    "Cause.name": "word",
    "Hypothesis.name": "word",
    "Surprised.sentence": "key",  # the same alarm again is shown once
}

DATA = frozenset(
    """
    about action active active_member actor_churn address addresses after after_file again_file aggregated
    aliases all_stopped_at also archives arguments arp_targets arp_validate asked asm_listeners at attest_for
    attested_for awaits backups baseline_file before began begin begins begun_at behind boot boot_id boot_ids bound
    booted_at buffers busiest by by_bond carried cause caused_by causes cells changes chassis check checks
    cleared_by client clients_by clocks closed closed_at closed_by cluster cluster_name code columns commands
    company conf_before config_file connect connection container copies counter counters counts covers cpus
    curve cut daemons data database databases default_zone description destination destination_ip detail died directory
    disk_group down driver drivers_in_use duplex each_channel each_port end ended_at ends_with enter entered
    environment equal_to error errors events evidence example excluded_by excluded_on excused expires explained
    explains fact far_end fault figure figures file file_before file_system files finding firmware first
    first_begin first_end flow_class force_local format found fragment_costs from_node fullness further_sources
    gaps gateway grid_home grid_homes grid_owner group groups guess guests hash_policy hashes hides hinted_by
    held_bps hints host hosts hypervisors id in_part infiniband_modes instance instances interconnects interface
    interfaces ip ipc judged kept_before kernel kernel_release key kind last_end last_seen leave left_out
    lengths letter line lines links links_text lldp load local_ip local_node location log_mode look looked_in
    mac mac_address macs made_at made_by made_for management_ips marks master maybe_guests measured_at members
    messages method mii_status missing mode mount moves mtu_before mtus name named_by named_networks names needs
    neighbour_mac neighbours network network_service networks new_ports nic nics node nodes noise not_before
    not_compared not_found not_known not_running not_starting not_understood of old_ports on open_mode opened_at
    opened_by operational_state options oracle_home oracle_sid other_nic others outcome over owner pair
    pair_look pairs parent part_of partner_churn partner_mac password_file patch_level path pattern peer
    peer_mac peer_nic peers pieces pings pinning place plan platform port port_group port_mac ports
    private_bytes_per_s process product program prohibited_by protocol proved_by public racwire racwire_version
    racwires reached read_at read_by receive_buffer_bytes received receiver receivers receives_on refusal
    registries registry_files remote remote_ip restore_point result role roles rule ruled_out rules running
    running_at running_until sampled save saved_at schema scope script sender senders sends_on sent sent_by
    server server_ip service services setting settings sha256 shown_by silent since since_begin sizes skipped
    slots sockets source source_ip source_node spots standing start started_at startup_time state statistics
    status step stopped_at stopped_until store_hash subnet supported_by switch switch_kinds switch_pair switches
    sysctl_files sysctls table tables taken_at target target_interface target_node think_time timer tns_admin to
    to_node together too_big_from transition udp_hash udp_sockets unasked unbound_source unexplained unit
    unknown unlike unreachable_from unread until upgrade_state uplinks user uses value values verdict
    verified_at verified_by verify version versions view vip virtual_switch wallet way who worst_begin worst_end
    writer zone
    allowed_vlans chain channel class_mtus cleared destinations device forwarding_vlans hook inside last link_port
    named nics_in nics_out policer_drop_bytes policer_drops protocols queue_drop_bytes queue_drops strange_macs
    tree trunks vlan
    declared excluded fields forms losses pasted socket
    day digest names_before ran
    """.split()  # noqa: SIM905
)
"""Codes, names, addresses, times, commands, and values of other programs."""


def category(cls: type, name: str) -> str:
    """Return `word`, `key` or `data`; `data` also for a field that is not classified."""
    exceptions = (EXCEPT.get(f"{base.__name__}.{name}") for base in cls.__mro__)
    return next(filter(None, exceptions), "word" if name in WORDS else "key" if name in KEYS else "data")


def is_masked(cls: type) -> bool:
    """Whether the texts of a class are classified, and masked."""
    return cls.__module__.startswith("checks.") and not cls.__module__.startswith(APART)


def unclassified() -> list[str]:
    """Return each field that can hold text, and is in no list, or in several; and each name that no field has."""
    fields = {f"{cls.__name__}.{name}": name for cls in _classes() for name in _texts(cls)}
    lists = [WORDS, KEYS, DATA]
    wrong = [field for field, name in fields.items() if field not in EXCEPT and sum(name in own for own in lists) != 1]
    names = {*fields, *fields.values()}
    return sorted([*wrong, *(f"no field: {name}" for name in (*EXCEPT, *WORDS, *KEYS, *DATA) if name not in names)])


def _classes() -> Iterator[type]:
    import checks

    for found in pkgutil.walk_packages(checks.__path__, "checks."):
        module = importlib.import_module(found.name)
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__ == found.name and is_masked(cls):
                yield cls


def _texts(cls: type) -> Iterator[str]:
    names = getattr(cls, "__struct_fields__", None) or getattr(cls, "__dataclass_fields__", {})
    hints = get_type_hints(cls) if names else {}
    yield from (name for name in names if _holds_text(hints[name]))


def _holds_text(hint: Any) -> bool:
    return hint is str or any(map(_holds_text, get_args(hint)))

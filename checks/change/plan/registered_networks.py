"""What the registry has of the private networks: the lines of oifcfg, and the listeners of Flex ASM."""

from __future__ import annotations

from checks.model.facts import Cluster, ConfiguredInterface, InterfaceConfiguration, Unknown, part_of


def _configuration(cluster: Cluster) -> InterfaceConfiguration | Unknown:
    return part_of(cluster.clusterware, lambda facts: facts.configuration)


def configured_lines(cluster: Cluster) -> tuple[ConfiguredInterface, ...]:
    """Return the lines of `oifcfg getif`; none if they are not known."""
    found = _configuration(cluster)
    return () if isinstance(found, Unknown) else found.interfaces


def private_lines(cluster: Cluster) -> tuple[ConfiguredInterface, ...]:
    """Return the lines with the role cluster_interconnect; none if they are not known."""
    return tuple(line for line in configured_lines(cluster) if line.is_private)


def interconnect_lines(cluster: Cluster) -> tuple[str, ...] | Unknown:
    """Return the lines of `oifcfg getif` in the format of a plan, sorted, or the reason why they are unknown."""
    found = _configuration(cluster)
    if isinstance(found, Unknown):
        return found
    return tuple(sorted(f"{e.name}  {e.subnet}  {e.scope}  {','.join(e.roles)}" for e in found.interfaces))


def ocr_against_gpnp(cluster: Cluster) -> tuple[str, ...]:
    """Return the messages of oifcfg that the OCR and the GPnP profile differ; none if they are not known."""
    found = _configuration(cluster)
    if isinstance(found, Unknown):
        return ()
    messages = [f"{m.code}: {m.text.rstrip('.')}" for m in found.messages if m.code == "PRIF-30"]
    return (*messages, *(f"{entry.name} {entry.subnet} is only in the OCR" for entry in found.only_in_ocr))


def registered_listeners(cluster: Cluster) -> tuple[str, ...] | Unknown:
    """Return the listeners of Flex ASM in the format of a plan, sorted: `ASMNET1LSNR_ASM 192.168.10.0`."""
    found = part_of(cluster.managed, lambda managed: managed.asm_listeners)
    return found if isinstance(found, Unknown) else tuple(sorted(f"{one.name} {one.subnet}" for one in found))

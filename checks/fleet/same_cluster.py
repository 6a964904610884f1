"""Which saved files are of one cluster: by the addresses of its NICs first, then by its name and its nodes.

A file says no identity of its cluster. A NIC of a node identifies it: also where the cluster has another name now,
and where two clusters have one name and nodes of equal names. A run that could not read a node has none of its NICs;
there the name of the cluster and of a node decide, where no NIC contradicts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class FileIdentity(NamedTuple):
    """What a file says about which cluster it is of."""

    name: str
    nodes: tuple[str, ...]
    nics: tuple[tuple[str, tuple[str, ...]], ...]
    """Nodes with the addresses of their NICs; the nodes that could not be read are missing."""
    is_redacted: bool
    """Pseudonyms are no names: a file with them is of no cluster that a file with names is of."""


class _Group:
    def __init__(self, files: list[int], identities: Sequence[FileIdentity]) -> None:
        self.files = files
        self.nodes = {node for file in files for node in identities[file].nodes}
        self.read = {node for file in files for node, _ in identities[file].nics}

    def may_be(self, other: _Group) -> bool:
        """Whether they share a node, and none of which both have the NICs: those are not the same."""
        return bool(self.nodes & other.nodes) and not self.read & other.read

    def add(self, other: _Group) -> None:
        self.files += other.files
        self.nodes |= other.nodes
        self.read |= other.read


def clusters_of(files: Sequence[FileIdentity]) -> list[list[int]]:
    """Return the numbers of the files of each cluster, in their order."""
    named: dict[tuple[bool, str], list[_Group]] = defaultdict(list)
    for numbers in _by_nic(files):
        newest = files[numbers[-1]]
        named[newest.is_redacted, newest.name].append(_Group(numbers, files))
    return sorted(sorted(group.files) for alike in named.values() for group in _by_name(alike))


def _by_nic(files: Sequence[FileIdentity]) -> Iterator[list[int]]:
    """Yield the files that share a NIC of a node of one name, over whatever way."""
    above = list(range(len(files)))

    def top(file: int) -> int:
        while above[file] != file:
            above[file] = file = above[above[file]]
        return file

    first: dict[tuple[bool, str, str], int] = {}
    for number, file in enumerate(files):
        for node, addresses in file.nics:
            for address in addresses:
                above[top(number)] = top(first.setdefault((file.is_redacted, node, address), number))
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(len(files)):
        groups[top(number)].append(number)
    yield from groups.values()


def _by_name(alike: list[_Group]) -> list[_Group]:
    """Join the groups of one name where one other group alone can be the same cluster, the largest first."""
    found: list[_Group] = []
    for group in sorted(alike, key=lambda one: (-len(one.read), -len(one.files), one.files[0])):
        fitting = [other for other in found if other.may_be(group)]
        if len(fitting) == 1:
            fitting[0].add(group)
        else:
            found.append(group)
    return found

"""How full the links of a measurement are, from the live samples of the nodes at both ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from checks.model.measurement import MeasuredPath
from checks.traffic.samples import NodeSample


class LinkUse:
    """The share of each link in use over time, 0 to 1: of its direction that carries more."""

    def __init__(self, paths: Sequence[MeasuredPath]) -> None:
        self._paths = tuple(paths)
        self._known: dict[tuple[str, str], list[tuple[float, float, int, int]]] = defaultdict(list)
        """By node and interface: the end of each sample, its seconds, and the bytes in and out."""

    def see(self, event: object) -> None:
        """Add a sample."""
        if not isinstance(event, NodeSample):
            return
        for path in self._paths:
            for node, interface in ((path.source_node, path.interface), (path.target_node, path.target_interface)):
                counts = event.interfaces.get(interface)
                own = self._known[node, interface]
                if event.node == node and counts is not None and (not own or own[-1][0] < event.at):
                    own.append((event.at, event.seconds, counts.rx_bytes, counts.tx_bytes))

    def of_links(self) -> dict[str, float]:
        """Return the share of each link at both ends over all samples, by a name such as `eth1 of rac1`."""
        found = {}
        for path in self._paths:
            for node, interface in ((path.source_node, path.interface), (path.target_node, path.target_interface)):
                share = self._share(path, node, interface, 0.0, float("inf"))
                if share is not None:
                    found[f"{interface} of {node}"] = share
        return found

    def between(self, path: int, begin: float, end: float) -> float | None:
        """Return the share of the fuller end of a path between two moments, in seconds since 1970.

        None where no sample of either end touches this time, or the speed of the link is not known.
        """
        one = self._paths[path]
        shares = (
            self._share(one, one.source_node, one.interface, begin, end),
            self._share(one, one.target_node, one.target_interface, begin, end),
        )
        return max((share for share in shares if share is not None), default=None)

    def _share(self, path: MeasuredPath, node: str, interface: str, begin: float, end: float) -> float | None:
        if not path.speed_mbps:
            return None
        taken = [one for one in self._known.get((node, interface), ()) if one[0] > begin and one[0] - one[1] < end]
        seconds = sum(one[1] for one in taken)
        if not seconds:
            return None
        most = max(sum(one[2] for one in taken), sum(one[3] for one in taken))
        return most * 8 / seconds / (path.speed_mbps * 1e6)

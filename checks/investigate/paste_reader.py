"""What a person pasted, as the signs of a step: the outputs are understood, and the ports lead to nodes."""

from __future__ import annotations

from collections.abc import Sequence

from checks.investigate.outputs.pastes import understand
from checks.investigate.pasted_signs import PastePlaces, arrived, signs
from checks.investigate.port_places import node_places, port_of_node
from checks.model.facts import Cluster
from checks.model.investigation import Probe, SessionStep
from checks.model.pasted import Pasted
from checks.model.signs import Sign, SignAt

_AT_PORTS = "switch-port"
"""The start of the names of steps that read the port of one node."""
_SHOWN_BY_RULES = frozenset({Sign.NODE_RULE, Sign.NODE_QDISC})
_MOST_CAPTURED = 200
"""The packets after which the printed capture ends by itself (`tcpdump -c`): it shows nothing of later ones."""
Signs = tuple[tuple[SignAt, ...], tuple[SignAt, ...]]
"""Those that were seen, and those that were examined."""


class PasteReader:
    """Reads pasted outputs. It learns from them and from people which port of the switch leads to which node."""

    def __init__(self, cluster: Cluster) -> None:
        self._places = node_places(cluster)
        self.said: dict[tuple[str, str], str] = {}
        """By network and node: the port that a person named."""

    def __call__(self, step: SessionStep, before: str, after: str) -> Signs | None:
        """Return the signs of the step that the outputs show, and those that they would show; None: not understood.

        Commands that printed nothing have no rule and no queue to show."""
        if not after.strip():
            return (), tuple(sign for sign in step.reads if sign.sign in _SHOWN_BY_RULES)
        second = understand(after, step.commands)
        if not second.outputs:
            return None
        first = understand(before, step.commands) if before else None
        seen, absent = signs(first, second, self._where(step, second))
        found = tuple(mine for mine in step.reads if any(one.shows(mine) for one in seen))
        looked = tuple(mine for mine in step.reads if mine in found or any(one.shows(mine) for one in absent))
        return found, looked

    def fares(
        self, step: SessionStep, output: str, sent: Sequence[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...] | None:
        """Return lost and sent of each probe of a step that counts at the NIC, by a capture there; None where the
        capture does not show that. `sent`: lost and sent as the receiver's kernel counted."""
        pasted = understand(output, step.commands)
        captured = sum(one.captured for one in pasted.captures)
        found = [self._fare(probe, pasted, number) for probe, (_, number) in zip(step.probes, sent, strict=True)]
        counts = tuple(one for one in found if one is not None)
        is_whole = captured < _MOST_CAPTURED or not any(lost for lost, _ in counts)
        return counts if len(counts) == len(found) and is_whole else None

    def _fare(self, probe: Probe, pasted: Pasted, sent: int) -> tuple[int, int] | None:
        leg = probe.legs[0]
        protocol, size = (leg.protocols or ("",))[0], leg.sizes[1]
        came = arrived(
            pasted,
            sources=self._addresses(leg.networks, leg.senders),
            destinations=self._addresses(leg.networks, leg.receivers),
            is_ours=lambda frame: frame.protocol == protocol and frame.octets in (None, size),
        )
        return None if came is None else (max(sent - came, 0), sent)

    def _addresses(self, networks: Sequence[str] | None, nodes: Sequence[str] | None) -> frozenset[str]:
        here = (one for one in self._places if one.network in (networks or ()) and one.node in (nodes or ()))
        return frozenset(address for place in here for address in place.addresses)

    def unknown_port(self, step: SessionStep, output: str) -> tuple[str, ...]:
        """Return the ports of an output of which one leads to the node of the step, where it is not known which; empty
        where it is known, or where the step is not about one port."""
        if not step.declared.startswith(_AT_PORTS) or len(step.place.nodes) != 1:
            return ()
        pasted = understand(output, step.commands)
        ports = self._where(step, pasted).ports
        if ports.get((step.place.networks[0], step.place.nodes[0])):
            return ()
        names = tuple(dict.fromkeys(port.name for port in pasted.ports if port.name))
        if len(names) == 1:  # the output of the one port that was asked for
            self.name_port(step, names[0])
        return names if len(names) > 1 else ()

    def name_port(self, step: SessionStep, port: str) -> None:
        """Take from a person which port leads to the node of the step."""
        self.said[step.place.networks[0], step.place.nodes[0]] = port

    def _where(self, step: SessionStep, pasted: Pasted) -> PastePlaces:
        ports = {
            (place.network, place.node): found
            for place in self._places
            if (found := port_of_node(pasted, place, self._places, self.said))
        }
        return PastePlaces(
            nodes=self._places,
            ports=ports,
            network=step.place.networks[0] if step.place.networks else "",
            node=(step.place.to or step.place.nodes or ("",))[0],
        )

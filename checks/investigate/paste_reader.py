"""What a person pasted, as the signs of a step: the outputs are understood, and the ports lead to nodes."""

from __future__ import annotations

from checks.investigate.outputs.pastes import understand
from checks.investigate.pasted_signs import PastePlaces, signs
from checks.investigate.port_places import node_places, port_of_node
from checks.model.facts import Cluster
from checks.model.investigation import Step
from checks.model.pasted import Pasted
from checks.model.signs import SignAt

_AT_PORTS = "switch-port"
"""The start of the names of steps that read the port of one node."""
Signs = tuple[tuple[SignAt, ...], tuple[SignAt, ...]]
"""Those that were seen, and those that were looked at."""


class PasteReader:
    """Reads pasted outputs. It learns from them and from people which port of the switch leads to which node."""

    def __init__(self, cluster: Cluster) -> None:
        self._places = node_places(cluster)
        self.said: dict[tuple[str, str], str] = {}
        """By network and node: the port that a person named."""

    def __call__(self, step: Step, before: str, after: str) -> Signs | None:
        """Return the signs of the step that the outputs show, and those that they would show; None: not understood."""
        second = understand(after, step.commands)
        if not second.outputs:
            return None
        first = understand(before, step.commands) if before else None
        seen, absent = signs(first, second, self._where(step, second))
        found = tuple(mine for mine in step.reads if any(one.shows(mine) for one in seen))
        looked = tuple(mine for mine in step.reads if mine in found or any(one.shows(mine) for one in absent))
        return found, looked

    def unknown_port(self, step: Step, output: str) -> tuple[str, ...]:
        """Return the ports of an output of which one leads to the node of the step, where it is not known which; empty
        where it is known, or where the step is not about one port."""
        if not step.declared.startswith(_AT_PORTS) or len(step.place.nodes) != 1:
            return ()
        pasted = understand(output, step.commands)
        ports = self._where(step, pasted).ports
        if ports.get((step.place.networks[0], step.place.nodes[0])):
            return ()
        return tuple(dict.fromkeys(port.name for port in pasted.ports if port.name))

    def name_port(self, step: Step, port: str) -> None:
        """Take from a person which port leads to the node of the step."""
        self.said[step.place.networks[0], step.place.nodes[0]] = port

    def _where(self, step: Step, pasted: Pasted) -> PastePlaces:
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

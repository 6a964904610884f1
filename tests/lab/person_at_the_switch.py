"""A person with the practice switch: types the commands of a step there or on a node, and touches the cables."""

from __future__ import annotations

import time

import racwire_lab
from checks.model.facts import Cluster
from checks.model.investigation import SessionStep
from racwire_lab.lab_errors import LabUsageError
from racwire_lab.switch.commands import answer
from racwire_lab.switch.view import SwitchView
from tests.lab.lab_support import run

_LINKS_S = 1.0
PORT = "PORT"
"""What a printed command has in place of a port that LLDP does not name."""


def lab() -> racwire_lab.Lab:
    """Return the practice cluster as it is now."""
    found = racwire_lab.find()
    assert found
    return found


def number_of(cluster: Cluster, network: str) -> int:
    """Return the number of a private network in the practice cluster."""
    known = cluster.network(network)
    assert known
    return int(known.ports[0].interface.removeprefix("eth"))


def typed(cluster: Cluster, step: SessionStep) -> str:
    """Return what the commands of a step print, as a person pastes it: at the switch with prompts and echoes."""
    if "switch" not in step.where:
        return _on_node(step)
    (network,) = step.place.networks
    view = lab().read_switch(number_of(cluster, network))
    text = ""
    for command in step.commands:
        words = str(getattr(command, "text", command))
        if step.place.nodes:
            words = words.replace(PORT, port_of(view, step.place.nodes[0]))
        text += f"{view.name}# {words}\n{_printed(view, words)}{view.name}# \n"
    return text


def _printed(view: SwitchView, words: str) -> str:
    try:
        return answer(view, words.removeprefix("show ").split())
    except LabUsageError:
        return "                   ^\n% Invalid command at '^' marker.\n"


def _on_node(step: SessionStep) -> str:
    node = (step.place.to or step.place.nodes)[0]
    # The module of the filter is loaded: on the machine of the practice cluster it may be built in.
    lines = [str(getattr(one, "text", one)).rpartition(" && ")[2] for one in step.commands]
    return "".join(run(lab(), node, "sh", "-c", line).stdout for line in lines)


def port_of(view: SwitchView, node: str) -> str:
    """Return the name of the port that a node is connected to."""
    ports = [port for port in view.ports if port.description.startswith(f"{node}-")]
    return next((port for port in ports if port.is_up), ports[0]).name


def touch(step: SessionStep, cluster: Cluster) -> None:
    """Do a step by hand, and wait for the links."""
    (network,) = step.place.networks
    lab().hand(step.declared, list(step.place.nodes), number_of(cluster, network))
    time.sleep(_LINKS_S)


def put_back() -> None:
    """Take the last act back, and wait for the links."""
    lab().hand_back()
    time.sleep(_LINKS_S)

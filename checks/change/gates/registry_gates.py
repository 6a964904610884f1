"""Gates: does the registry have the networks and ASM listeners that the plan wants at this step?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.gates.gate import THEN_VERIFY, GatePlace, gate
from checks.change.plan.network_change import shown
from checks.change.plan.registered_networks import interconnect_lines, ocr_against_gpnp, registered_listeners
from checks.change.progress.wanted import registrations
from checks.change.steps.network_commands import deleting_line, setting_line
from checks.model.check import Kind
from checks.model.facts import Unknown
from checks.model.finding import Finding, NextStep
from checks.model.own_command import VERIFY, OwnCommand
from checks.model.wording import counted, listed

_NOTE = "MOS 283684.1"
_GRID_OWNER = "the Grid owner"

AS_PLANNED = Kind("CH-REG-001", "oifcfg has the networks that the plan wants at this step")
NOT_AS_PLANNED = Kind(
    "CH-REG-002",
    "oifcfg has other networks than the plan wants at this step",
    "Clusterware starts on the networks in oifcfg. A wrong subnet is found on no node; a line that was deleted too "
    "early leaves nodes without the network that they run on.",
    (_NOTE,),
)
REGISTRY_NOT_KNOWN = Kind("CH-REG-003", "The networks in oifcfg are not known")
LISTENERS_AS_PLANNED = Kind("CH-REG-004", "Flex ASM has the listeners that the plan wants at this step")
LISTENERS_DIFFER = Kind(
    "CH-REG-005",
    "Flex ASM has other listeners than the plan wants at this step",
    "An instance reaches an ASM instance of another node through a listener on a private network: without one on a "
    "network that is up it cannot.",
    (_NOTE,),
)
LISTENERS_NOT_KNOWN = Kind("CH-REG-006", "The listeners of Flex ASM are not known")
APART = Kind(
    "CH-REG-007",
    "The OCR and the GPnP profile do not have the same networks",
    "A node starts with the networks of its GPnP profile. Where they differ from the OCR, a restart may fail.",
    ("PRIF-30",),
)


@gate(
    "oifcfg-planned",
    question="Does oifcfg have exactly the networks that the plan wants at this step?",
    needs=("clusterware",),
    topic="oifcfg getif",
    kinds=(AS_PLANNED, NOT_AS_PLANNED, REGISTRY_NOT_KNOWN, APART),
)
def oifcfg_planned(at: GatePlace) -> Iterator[Finding]:
    """Compares the output of `oifcfg getif` with the lines that the plan wants at this step: before, with the old and
    the new network, or after. The order does not matter. A message that the OCR and the GPnP profile differ (PRIF-30)
    does not pass.
    """
    lines = interconnect_lines(at.cluster)
    if isinstance(lines, Unknown):
        text = "Verify on a node where Clusterware runs, as a user who may run oifcfg."
        elsewhere = NextStep(text, own=(VERIFY,), where="the Grid owner or root")
        yield at.not_known(REGISTRY_NOT_KNOWN, "The networks in oifcfg are not known", lines, elsewhere)
        return
    wanted = {" ".join(line.split()) for line in registrations(at.change).interconnects}
    now = {" ".join(line.split()) for line in lines}
    if wanted != now:
        missing, other = sorted(wanted - now), sorted(now - wanted)
        differences = _differences([shown([line]) for line in missing], [shown([line]) for line in other])
        yield at.fails(
            NOT_AS_PLANNED,
            f"{counted(len(missing) + len(other), 'line')} wrong",
            f"oifcfg does not have the networks that the plan wants now: {differences}.",
            NextStep(
                "With Clusterware up on every node, register what is missing before you delete anything.",
                (*map(setting_line, missing), *map(deleting_line, other)),
                _GRID_OWNER,
                is_change=True,
            ),
            THEN_VERIFY,
        )
    elif apart := ocr_against_gpnp(at.cluster):
        yield at.fails(
            APART,
            "OCR and GPnP differ",
            f"oifcfg reports that the OCR and the GPnP profile differ: {listed(apart)}.",
            NextStep(
                "Store the planned lines again, with Clusterware up on every node.",
                tuple(setting_line(line) for line in sorted(now) if "cluster_interconnect" in line),
                _GRID_OWNER,
                is_change=True,
            ),
        )
    else:
        sentence = f"oifcfg has the planned networks: {shown(sorted(now))}."
        yield at.holds(AS_PLANNED, f"{counted(len(now), 'line')} as planned", sentence)


def _differences(missing: Iterable[str], other: Iterable[str]) -> str:
    return listed([*(f"{name} is missing" for name in missing), *(f"{name} must not be there" for name in other)])


@gate(
    "asm-listeners",
    question="Does Flex ASM have the listeners that the plan wants at this step?",
    needs=("managed",),
    uses=("clusterware",),
    topic="srvctl config listener -asmlistener",
    kinds=(LISTENERS_AS_PLANNED, LISTENERS_DIFFER, LISTENERS_NOT_KNOWN),
)
def asm_listeners(at: GatePlace) -> Iterator[Finding]:
    """Compares `srvctl config listener -asmlistener` with the listeners and subnets that the plan wants at this step.

    It reads the configuration. Whether a listener runs, and what connects to it, is not read.
    """
    wanted = registrations(at.change).asm_listeners
    found = registered_listeners(at.cluster)
    if wanted is None or isinstance(found, Unknown):
        why = found if isinstance(found, Unknown) else Unknown("the plan has none")
        elsewhere = NextStep("Verify on a node where Clusterware runs.", own=(VERIFY,))
        yield at.not_known(LISTENERS_NOT_KNOWN, "The listeners of Flex ASM are not known", why, elsewhere)
        return
    now = {*found}
    if now != {*wanted}:
        missing, other = sorted({*wanted} - now), sorted(now - {*wanted})
        yield at.fails(
            LISTENERS_DIFFER,
            f"{counted(len(missing) + len(other), 'listener')} wrong",
            f"Flex ASM does not have the listeners that the plan wants now: {_differences(missing, other)}.",
            NextStep("Run the commands of this step for Flex ASM.", own=(OwnCommand("next"),)),
            NextStep("Show the listeners.", ("srvctl config listener -asmlistener",), _GRID_OWNER),
        )
    else:
        sentence = f"Flex ASM has the planned listeners: {listed(sorted(now))}."
        yield at.holds(LISTENERS_AS_PLANNED, f"{counted(len(now), 'listener')} as planned", sentence)

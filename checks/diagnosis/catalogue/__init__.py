"""The catalogue of causes, by family."""

from checks.diagnosis.catalogue.between_nodes import BETWEEN_NODES
from checks.diagnosis.catalogue.cabling import CABLING
from checks.diagnosis.catalogue.flows import FLOWS
from checks.diagnosis.catalogue.kernel import KERNEL
from checks.diagnosis.catalogue.layer2 import LAYER2
from checks.diagnosis.catalogue.oracle import ORACLE
from checks.diagnosis.cause import Cause

CATALOGUE: tuple[Cause, ...] = tuple(
    sorted((*CABLING, *BETWEEN_NODES, *FLOWS, *KERNEL, *ORACLE), key=lambda cause: int(cause.code.rpartition("-")[2]))
    sorted((*CABLING, *BETWEEN_NODES, *KERNEL, *LAYER2, *ORACLE), key=lambda cause: int(cause.code.rpartition("-")[2]))
)

__all__ = ["CATALOGUE"]

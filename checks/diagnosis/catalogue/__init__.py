"""The catalogue of causes, by family."""

from checks.diagnosis.catalogue.between_nodes import BETWEEN_NODES
from checks.diagnosis.catalogue.cabling import CABLING
from checks.diagnosis.catalogue.flows import FLOWS
from checks.diagnosis.catalogue.kernel import KERNEL
from checks.diagnosis.catalogue.layer2 import LAYER2
from checks.diagnosis.catalogue.oracle import ORACLE
from checks.diagnosis.catalogue.virtual_layers import BELOW_NICS
from checks.diagnosis.cause import Cause

_ALL = (*CABLING, *BETWEEN_NODES, *BELOW_NICS, *FLOWS, *KERNEL, *LAYER2, *ORACLE)
CATALOGUE: tuple[Cause, ...] = tuple(sorted(_ALL, key=lambda cause: int(cause.code.rpartition("-")[2])))

__all__ = ["CATALOGUE"]

"""The faults that public reports of private networks describe, in the order of `racwire lab faults`."""

from __future__ import annotations

from racwire_lab.cluster.boot_faults import BOOT_FAULTS
from racwire_lab.cluster.live_faults import LIVE_FAULTS
from racwire_lab.cluster.nic_faults import NIC_FAULTS
from racwire_lab.cluster.routing_faults import ROUTING_FAULTS
from racwire_lab.cluster.switch_side import SWITCH_SIDE_FAULTS

FIELD_FAULTS = (*NIC_FAULTS, *ROUTING_FAULTS, *SWITCH_SIDE_FAULTS, *LIVE_FAULTS, *BOOT_FAULTS)

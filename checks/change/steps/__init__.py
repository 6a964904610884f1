"""The steps of a plan: each has commands for this cluster, an expected result, and the gates that verify the result.

draft.py     facts of the cluster and the target that all steps are built from
people.py    steps that only people can do: agree, console-access, sign-off
switches.py, hypervisors.py
             steps outside the nodes, whose place switch_order.py decides: switch, hypervisor; outside.py: both in order
before.py    recordings and backups before the change: baseline, backups
outage.py    steps while Oracle is stopped: stack-down, set-mtu, survives-boot, prove-paths
starting.py  the restart: first-node, other-nodes, databases
after.py     verification after the change: interconnect, compare
back.py      the rollback, from any step of a change
"""

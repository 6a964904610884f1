"""The steps of a plan, each with its commands for this cluster, what is so when it is done, and the gates that say so.

draft.py     what is known of the cluster and the target while a plan is made
people.py    what only people can see to: agree, console-access, switch, sign-off
before.py    what is recorded and saved: baseline, backups
outage.py    while nothing of Oracle runs: stack-down, set-mtu, survives-boot, prove-paths
starting.py  up again: first-node, other-nodes
after.py     what it brought: interconnect, compare
back.py      the way back, from wherever a change stands
"""

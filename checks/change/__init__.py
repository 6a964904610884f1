"""Guided changes of the private network's MTU.

A plan of steps, each verified by its gate before the next, and a rollback from any step. This code never changes a
node, a switch or a database: the plan holds commands for people, and the gates only read.
"""

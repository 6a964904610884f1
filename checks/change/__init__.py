"""The safe change of the MTU: a plan of steps, each proved by its gate before the next, and the way back from anywhere.

Nothing here changes a node, a switch or a database: the plan holds commands for people, and gates only look.
"""

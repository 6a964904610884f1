"""The far end: a small program on a peer that answers this node's messages, sent through ssh; no file is written.

It is the one program on a node that is not read-only in the sense of `checks/sources/nodes/read_only`: it opens ports.
Only `checks/measure` may use it, and only with a consent.
"""

"""Why a node's kernel drops packets: its event `skb:kfree_skb`, in a tracing instance of racwire's own.

The one thing that racwire switches on in a kernel, and off again: it is no program of the open shells, which only read.
Only `checks/run/sensing.py` may use it, for a step to which the operator has consented.
"""

"""The sender on this node: a process of its own, so that neither the event loop nor the console delays a packet."""

"""The Cache Fusion daemon of a practice node: real blocks over the private networks, and what an instance counts of it.

Each instance asks every other one for blocks of 8 KB, is asked for them, and pings with 500 bytes and 8 KB. Everything
that it tells of itself comes from those packets and from the node's own kernel.

    messages     what is sent
    requests     what has been asked for, and when a block counts as lost
    counters     what the instance has counted since its start
    addresses    the node's addresses and NICs, as the kernel has them
    settings     the file that says how the instance should be
    instance     the instance from its start to its end
    stack_locks  the Clusterware of the node, and the other instances, as locks show them
    sockets      one network as the daemon uses it
    daemon       the loop that keeps the instance running and tells its state

The package stands alone: it needs nothing but the standard library and imports nothing of racwire.
"""

"""The Cache Fusion daemon of a practice node: it sends real blocks over the private networks, and counts them.

Each instance requests blocks of 8 KB from every other one, serves their requests, and pings with 500 bytes and 8 KB.
All its statistics come from those packets and from the node's own kernel.

    messages     the messages between the daemons
    requests     the open requests, and when a block counts as lost
    counters     the counters of the instance since its start
    addresses    the node's addresses and NICs, from the kernel
    settings     the file with the desired state of the instance
    instance     the instance from its start to its end
    stack_locks  the state of the node's Clusterware and of the other instances, from locks
    sockets      the sockets on one network
    membership   which nodes remain in the cluster, from heartbeats: no I/O
    css          heartbeats over the private networks, and eviction
    haip         HAIPs that leave a NIC without a link
    loss_log     the log of the lost blocks
    alert_log    the alert logs of Clusterware and of the instance
    daemon       the loop that runs the instance and reports its state

The package is self-contained: it needs only the standard library and imports nothing of racwire.
"""

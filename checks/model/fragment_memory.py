"""A receiver's memory for reassembly, which incomplete datagrams of racwire share with the blocks of the database."""

FRAGMENT_SHARE = 0.05
"""The share of a receiver's memory for reassembly (net.ipv4.ipfrag_high_thresh) that incomplete datagrams of racwire
may hold, from all senders together: the blocks of the database need the rest. Ours."""
LEAST_FRAGMENT_BYTES = 262_144
"""The smallest default of net.ipv4.ipfrag_high_thresh in any kernel since 2.6.32 (net/ipv4/ip_fragment.c), assumed
where that of a node is not known."""
USUAL_FRAGMENT_S = 30
"""The default of net.ipv4.ipfrag_time in seconds (Linux, Documentation/networking/ip-sysctl)."""

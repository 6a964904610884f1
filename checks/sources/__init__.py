"""Read nodes, Clusterware and the database, and send probes: the only package that performs I/O on a cluster.

`registry.py` lists every file, command, program, SQL statement and packet.
"""

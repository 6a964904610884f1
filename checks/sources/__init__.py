"""What is read, asked or sent: nodes, Clusterware, database, probes. The only part that touches the world.

`registry.py` lists every file, command, program, SQL statement and packet.
"""

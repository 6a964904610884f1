"""What racwire costs, measured against what it may cost: `make bench` prints it as one table.

It is no test: it says what it found on this machine, and ends well whatever that is. Each file measures one thing and
returns rows; what it needs (a terminal, a practice cluster, a namespace with traffic) it makes, and takes away again.
"""

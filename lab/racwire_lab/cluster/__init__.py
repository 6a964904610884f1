"""The practice nodes, their networks and switches: start, break, fix and remove them."""

"""What another MTU or block size would change on this cluster, calculated from its own counters. Nothing is sent."""

"""Measurements that send load, and drills: only after the name of the cluster was typed, and within hard limits."""

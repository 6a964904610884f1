"""What several checks share: how they speak of nodes, instances, paths and NICs."""

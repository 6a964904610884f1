"""Send probes over the private networks, only on request, and never over a public network."""

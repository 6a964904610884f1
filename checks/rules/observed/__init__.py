"""What racwire's own packets and the nodes' counters show, as observations: pure functions of facts."""

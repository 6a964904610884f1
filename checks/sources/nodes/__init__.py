"""How nodes are reached and read: the only part of racwire, with probes, that touches the world."""

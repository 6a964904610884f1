"""Oracle Clusterware: its homes, its tools and what they print."""

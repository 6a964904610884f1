"""What racwire knows of a cluster and says of it: data only, without I/O."""

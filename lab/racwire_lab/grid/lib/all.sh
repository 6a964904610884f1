# Starts the whole Clusterware of a node, when the practice cluster starts: without a search for other nodes.
. "${0%/*}/stack.sh"
daemons lower
write_profiles "$node"
add_haips
daemons upper

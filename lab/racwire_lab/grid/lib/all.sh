# Starts the whole Clusterware of a node, as it runs when the practice cluster comes up: no other node is looked for.
. "${0%/*}/stack.sh"
daemons lower
add_haips
daemons upper

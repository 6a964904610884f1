# The first process of the practice cluster, and its switch: with this one everything ends.
# Arguments: the lab's directory, "root" or "rootless", the names of the nodes.
# Reports "NAME PID" for itself and each node on stdout; starts for good when it reads "go" on stdin.
set -eu
exec 3>&1 >&2
lab=$1 privilege=$2
shift 2

if [ -e /proc/sys/net/ipv6/conf/default/disable_ipv6 ]; then
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
fi

# No switch cuts packets into fragments; a bridge does, where the kernel hands what it passes to the packet filter.
for family in iptables ip6tables arptables; do
    if [ -e "/proc/sys/net/bridge/bridge-nf-call-$family" ]; then
        echo 0 >"/proc/sys/net/bridge/bridge-nf-call-$family"
    fi
done

for node in "$@"; do
    unshare --fork --kill-child --pid --mount --propagation slave --net --uts \
        sh "$lab/scripts/node.sh" "$lab" "$privilege" "$node" </dev/null &
done

# /proc is still the one of the machine, so this is the pid by which the machine knows us.
read -r pid _ </proc/self/stat
echo "switch $pid" >&3
exec 3>&-

# The one who started us is gone or gave up: so must we, or nobody would know of us.
read -r word || exit 1
[ "$word" = go ] || exit 1
exec </dev/null

while :; do
    wait # also collects the orphans of this PID namespace
    sleep 1
done

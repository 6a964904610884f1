# The first process of the practice cluster, and its switch: when it ends, the whole cluster ends.
# Arguments: the lab's directory, "root" or "rootless", the names of the nodes.
# Reports "NAME PID" for itself and each node on stdout; continues when it reads "go" on stdin.
set -eu
exec 3>&1 >&2
lab=$1 privilege=$2
shift 2

if [ -e /proc/sys/net/ipv6/conf/default/disable_ipv6 ]; then
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
fi

# A real switch never fragments packets; a bridge does when the kernel passes its packets to the packet filter.
for family in iptables ip6tables arptables; do
    if [ -e "/proc/sys/net/bridge/bridge-nf-call-$family" ]; then
        echo 0 >"/proc/sys/net/bridge/bridge-nf-call-$family"
    fi
done

for node in "$@"; do
    unshare --fork --kill-child --pid --mount --propagation slave --net --uts \
        sh "$lab/scripts/node.sh" "$lab" "$privilege" "$node" </dev/null &
done

# /proc is still the machine's, so this is the pid on the machine.
read -r pid _ </proc/self/stat
echo "switch $pid" >&3
exec 3>&-

# The program that started this one has gone or failed: end too, or no program would know of this process.
read -r word || exit 1
[ "$word" = go ] || exit 1
exec </dev/null

while :; do
    wait # also collects the orphans of this PID namespace
    sleep 1
done

#!/bin/sh
# Interfaces with traffic in a network namespace of their own: sh wires.sh COUNT PYTHON CHATTER
# Their other ends are in a second namespace. Started by `unshare --pid --net --mount-proc --fork --kill-child`: everything
# here ends with this shell, and this shell with its stdin.
set -eu
count=$1 python=$2 chatter=$3
mount -t sysfs sysfs /sys
ip link set lo up
unshare --net sleep infinity &
peer=$!
here= there=
# Until it has its namespace, its end of a wire would come to this one.
while [ "$(readlink /proc/self/ns/net)" = "$(nsenter -t $peer -n readlink /proc/self/ns/net)" ]; do sleep 0.02; done
nsenter -t $peer -n ip link set lo up
i=0
while [ $i -lt "$count" ]; do
    ip link add "wire$i" type veth peer name "wire$i" netns $peer
    ip addr add "10.99.$i.1/24" dev "wire$i"
    ip link set "wire$i" up
    nsenter -t $peer -n sh -c "ip addr add 10.99.$i.2/24 dev wire$i && ip link set wire$i up"
    here="$here 10.99.$i.1" there="$there 10.99.$i.2"
    i=$((i + 1))
done
# shellcheck disable=SC2086 # lists of words
nsenter -t $peer -n "$python" -I -S "$chatter" $here &
# shellcheck disable=SC2086
"$python" -I -S "$chatter" $there &
echo ready
read -r _ || exit 0

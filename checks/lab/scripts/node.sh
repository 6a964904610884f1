# The first process of one node of the practice cluster.
# Arguments: the lab's directory, "root" or "rootless", the node's name. Reports "NAME PID" on descriptor 3.
set -eu
lab=$1 privilege=$2 node=$3
home=$lab/nodes/$node
trap 'echo "$node failed" >&3' EXIT

# /proc is still the one of the machine, so this is the pid by which the machine knows us.
read -r pid _ </proc/self/stat

# Without root only the system call is allowed, with root there may be no program for it.
hostname "$node" 2>/dev/null || echo "$node" >/proc/sys/kernel/hostname
mount -n -t proc proc /proc
mount -n -t sysfs sysfs /sys

# A /run and a /var/log of the node's own: for sshd, and so that nothing is written to those of the machine.
# The lab's directory may itself be under /run, and must stay in sight.
mount -n -t tmpfs -o mode=755 tmpfs "$home/run"
mkdir -m 755 "$home/run/sshd"
case $lab in
/run/*)
    mkdir -p "$home/run/${lab#/run/}"
    mount -n --bind "$lab" "$home/run/${lab#/run/}"
    ;;
esac
mount -n --move "$home/run" /run
mount -n -t tmpfs -o mode=755 tmpfs /var/log

for file in passwd shadow hosts oratab; do
    if [ -e "$lab/etc/$file" ] && [ -e "/etc/$file" ]; then
        mount -n --bind "$lab/etc/$file" "/etc/$file"
    fi
done

cd /proc/sys/net/ipv4
echo 0 >conf/all/rp_filter
echo 0 >conf/default/rp_filter
if [ -e ipfrag_time ]; then
    # Instead of 30 s: a datagram that lacks a fragment is given up, and counted, within one look at the counters.
    echo 2 >ipfrag_time
fi
if [ "$privilege" = root ]; then
    echo 0 2147483647 >ping_group_range
else
    # Only one user and one group exist in here; theirs is number 0, and they may not bind port 22.
    echo 0 0 >ping_group_range
    echo 0 >ip_unprivileged_port_start
fi
if [ -e ../ipv6/conf/all/disable_ipv6 ]; then
    echo 1 >../ipv6/conf/all/disable_ipv6
    echo 1 >../ipv6/conf/default/disable_ipv6
fi
cd /

trap - EXIT
echo "$node $pid" >&3
exec 3>&-

while :; do
    "$home/grid/bin/ocssd.bin" 2147483647 &
    wait # also collects the orphans of this PID namespace
    sleep 1
done

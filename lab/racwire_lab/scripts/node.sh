# The first process of one node of the practice cluster.
# Arguments: the lab's directory, "root" or "rootless", the node's name. Reports "NAME PID" on descriptor 3.
set -eu
lab=$1 privilege=$2 node=$3
home=$lab/nodes/$node
trap 'echo "$node failed" >&3' EXIT

# /proc is still the machine's, so this is the pid on the machine.
read -r pid _ </proc/self/stat

# Without root only the system call is permitted; with root the program may be missing.
hostname "$node" 2>/dev/null || echo "$node" >/proc/sys/kernel/hostname
mount -n -t proc -o "$(cat "$lab/proc_options")" proc /proc
mount -n -t sysfs sysfs /sys

# A /run and a /var/log of the node's own: for sshd, and so that nothing writes to the machine's.
# The lab's directory may itself be under /run, and must stay visible.
mount -n -t tmpfs -o mode=755 tmpfs "$home/run"
mkdir -m 755 "$home/run/sshd" "$home/run/racwire" "$home/run/racwire/etc" "$home/run/racwire/sbin"
ln -s "$home" "$home/run/racwire/home"
case $lab in
/run/*)
    mkdir -p "$home/run/${lab#/run/}"
    mount -n --bind "$lab" "$home/run/${lab#/run/}"
    ;;
esac
# The files that show that the network service runs.
read -r service <"$home/network_service"
case $service in
keyfile) mkdir "$home/run/NetworkManager" ;;
networkd) mkdir -p "$home/run/systemd/netif/links" ;;
ifcfg) mkdir -p "$home/run/lock/subsys" && : >"$home/run/lock/subsys/network" ;; # /var/lock is a link to /run/lock
esac
[ ! -e "$home/lldpd.socket" ] || ln -s "$home/lldpd.socket" "$home/run/lldpd.socket"
# The machine's /etc and programs, to which the node's own have links, read-only.
sbin=$(readlink -f /usr/sbin)
mount -n --rbind /etc "$home/run/racwire/etc"
mount -n -o remount,bind,ro "$home/run/racwire/etc"
mount -n --rbind "$sbin" "$home/run/racwire/sbin"
mount -n -o remount,bind,ro "$home/run/racwire/sbin"
mount -n --move "$home/run" /run
mount -n -t tmpfs -o mode=755 tmpfs /var/log
# A /var/tmp of the node's own, where a change saves the node's files.
case $lab in
/var/tmp/*) ;;
*) mount -n -t tmpfs -o mode=1777 tmpfs /var/tmp ;;
esac
mount -n --bind "$home/etc" /etc
mount -n --bind "$lab/sbin" "$sbin"
# Hide the network configuration of the machine's packages: a node uses only the files of its network service.
# Its files of sysctl, too.
for directory in /usr/local/lib/systemd/network /usr/lib/systemd/network /lib/systemd/network \
    /usr/local/lib/sysctl.d /usr/lib/sysctl.d /lib/sysctl.d; do
    if [ -d "$directory" ]; then
        mount -n -t tmpfs -o mode=755 tmpfs "$directory"
    fi
done
# Directories of vendor software in /opt, next to the machine's own.
if [ -s "$lab/vendor_directories" ]; then
    mkdir /run/racwire/opt
    mount -n --rbind /opt /run/racwire/opt
    mount -n -t tmpfs -o mode=755 tmpfs /opt
    for entry in /run/racwire/opt/*; do
        [ ! -e "$entry" ] || ln -s "$entry" /opt/
    done
    while read -r directory; do
        mkdir -p "$directory"
    done <"$lab/vendor_directories"
    mount -n -o remount,ro /opt
fi
# Replace the machine's programs that would act on the machine instead of the node.
while read -r program; do
    for directory in /usr/bin /bin /sbin; do
        if [ -e "$directory/$program" ] && ! [ "$directory/$program" -ef "$lab/sbin/$program" ]; then
            mount -n --bind "$lab/sbin/$program" "$directory/$program"
        fi
    done
done <"$lab/programs"
# Directories in which the node lacks programs of the machine, or has an older release of them.
while read -r number place; do
    mkdir "/run/racwire/$number"
    mount -n --rbind "$place" "/run/racwire/$number"
    mount -n -o remount,bind,ro "/run/racwire/$number"
    mount -n --bind "$lab/bins/$number" "$place"
done <"$lab/program_directories"
# Directories of the machine that its other users may not enter, such as /root: the node's users see only what they need
# there.
if [ -e "$lab/opened" ]; then
    cp "$lab/opened" /run/racwire/opened
    number=0
    while read -r closed path; do
        number=$((number + 1))
        mkdir -p "/run/racwire/stage/$number"
        mount -n --rbind "$path" "/run/racwire/stage/$number"
    done </run/racwire/opened
    sort -u </run/racwire/opened >/run/racwire/opened.sorted
    hidden=
    while read -r closed path; do
        [ "$closed" = "$hidden" ] || mount -n -t tmpfs -o mode=755 tmpfs "$closed"
        hidden=$closed
    done </run/racwire/opened.sorted
    number=0
    while read -r closed path; do
        number=$((number + 1))
        mkdir -p "$path"
        mount -n --move "/run/racwire/stage/$number" "$path"
    done </run/racwire/opened
    while read -r closed path; do
        mount -n -o remount,ro "$closed"
    done </run/racwire/opened
fi
# Hide the kernel's trigger for a reboot of the machine; reboot(2) from inside ends the namespaces only.
if [ -e /proc/sysrq-trigger ]; then
    mount -n --bind /dev/null /proc/sysrq-trigger
fi
mount -n --bind "$home/boot_id" /proc/sys/kernel/random/boot_id
# Settings that the machine has once, or shows its containers read-only: a node has values of its own.
while read -r path; do
    if [ -e "/proc/sys/$path" ]; then
        mount -n --bind "$home/sysctl/$path" "/proc/sys/$path"
    fi
done <"$lab/own_sysctls"

cd /proc/sys/net/ipv4
echo 0 >conf/all/rp_filter
echo 0 >conf/default/rp_filter
while read -r name value; do
    echo "$value" >"conf/default/$name"
done <"$lab/nic_sysctls"
if [ -e ipfrag_time ]; then
    cat "$lab/fragment_time" >ipfrag_time
fi
if [ "$privilege" = root ]; then
    # A container may have no group but 0.
    cat "$lab/ping_groups" >ping_group_range 2>/dev/null || echo 0 0 >ping_group_range
else
    # Only one user and one group exist here, with number 0; they may not bind port 22.
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

# Waits for the order to reboot, which is a line in a pipe. It waits for a process that reads the pipe, and so also
# reaps the orphans of this PID namespace.
while :; do
    { read -r _ <"$home/orders"; } &
    if wait "$!"; then
        until env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C sh "$lab/scripts/boot.sh" >>"$home/boot.log" 2>&1; do
            sleep 0.2
        done
    fi
done

# Holds the namespace of a hypervisor: the bridges between the private NICs of a node and their cables. Reports its pid on
# stdout.
set -eu
read -r pid _ </proc/self/stat
if [ -e /proc/sys/net/ipv6/conf/default/disable_ipv6 ]; then
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
fi
for family in iptables ip6tables arptables; do
    if [ -e "/proc/sys/net/bridge/bridge-nf-call-$family" ]; then
        echo 0 >"/proc/sys/net/bridge/bridge-nf-call-$family"
    fi
done
cd /
echo "$pid"
exec >&2
exec sleep 2147483647

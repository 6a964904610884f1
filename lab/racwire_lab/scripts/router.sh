# Holds the namespace of a router that answers ARP for both of its sides. Reports its pid on stdout.
set -eu
read -r pid _ </proc/self/stat
cd /proc/sys/net/ipv4
echo 1 >ip_forward
echo 1 >conf/default/proxy_arp
echo 0 >conf/default/rp_filter
echo 0 >conf/all/rp_filter
echo 0 >conf/default/send_redirects
echo 0 >conf/all/send_redirects
if [ -e ../ipv6/conf/default/disable_ipv6 ]; then
    echo 1 >../ipv6/conf/default/disable_ipv6
fi
cd /
echo "$pid"
exec >&2
exec sleep 2147483647

"""Commands that racwire must refuse, and commands that it may run, in many spellings."""


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line)


CHANGING = _lines(
    """
ip link set eth1 mtu 9000
ip link set dev eth1 up
ip link add name br0 type bridge
ip addr add 10.0.0.1/24 dev eth1
ip route add default via 10.0.0.1
ip route del 10.0.0.0/24
ip neigh flush all
ip neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth1
ip netns exec x ip link
ip -b /tmp/batch
ip -b /tmp/batch addr show
ip -force -batch /tmp/batch
ip xfrm state flush
ifconfig eth1 mtu 9000
ifup eth1
nmcli connection modify eth1 802-3-ethernet.mtu 9000
nmcli connection up eth1
nmcli connection down eth1
nmcli connection delete eth1
nmcli device reapply eth1
nmcli device set eth1 managed no
nmcli general hostname other
nmcli networking off
nmcli -s connection show eth1
nmcli --show-secrets connection show eth1
networkctl reconfigure eth1
networkctl -H root@rac2 status
netplan apply
wicked ifup eth1
systemctl restart NetworkManager
systemctl stop ohasd
systemctl disable oracle-ohasd
systemctl -H rac2 show x
service network restart
reboot
shutdown -r now
kill -9 1
ethtool -s eth1 speed 1000
ethtool -K eth1 gro off
ethtool -G eth1 rx 4096
ethtool -C eth1 rx-usecs 0
ethtool -t eth1
ethtool --json -s eth1 speed 1000
ethtool --json -S "$nic" --groups rmon --all
sysctl -w net.ipv4.ipfrag_high_thresh=1
sysctl net.ipv4.ip_forward=1
ss -K dst 10.0.0.1
ss -t state established "$all" -K
ss -Htn sport = :22 -K
hostname other
hostname -F /etc/hostname
date -s 12:00
date --set=12:00
date 01011200
rm -rf /tmp/x
rm x
mv /etc/hosts /etc/hosts.old
cp /etc/hosts /tmp/hosts
ln -s a b
touch /tmp/x
tee /etc/hosts
dd if=/etc/hosts of=/tmp/x
sed -i s/1500/9000/ /etc/sysconfig/network-scripts/ifcfg-eth1
sed -n -i p /etc/hosts
sed -ni p /etc/hosts
sed -n p /etc/hosts -i
sed -n p /etc/hosts --in-place
sed --in-place=.old s/a/b/ /etc/hosts
sed -n 'w /tmp/x' /etc/hosts
sed 's/a/b/w /tmp/x' /etc/hosts
sed 's/a/touch x/e' /etc/hosts
sed 's/[/]/b/;e touch x' /etc/hosts
sed -n '1e touch x' /etc/hosts
sed -f /tmp/script /etc/hosts
sed -e p -e 'w /tmp/x' /etc/hosts
awk 'BEGIN { system("reboot") }'
perl -e unlink
python3 -c 'import os'
find /tmp -delete
find / -name x -exec rm {} +
sort -o /etc/hosts /etc/hosts
sort /etc/hosts -o /etc/hosts
sort --compress-program=reboot /etc/hosts
uniq /etc/hosts /tmp/x
printf -v x y
test -v 'a[$(reboot)]'
[ -v 'a[$(reboot)]' ]
[ "$a" "$b" ]
[ -n "$a" -a -n "$b" ]
[[ -n x ]]
read 'a[$(reboot)]'
read PATH
read racwire_token
cd "$x"
ping -f 10.0.0.1
ping -c 3 -f 10.0.0.1
ping -c 3 -A 10.0.0.1
ping -b -c 3 10.0.0.255
ping 10.0.0.1
ping -c 1000000 10.0.0.1
ping -c 3 -i 0.001 10.0.0.1
ping -c 3 "$to"
tcpdump -w /tmp/x
mount -o remount,ro /
iptables -F
tc qdisc add dev eth1 root netem loss 10%
bridge link set dev eth1 mtu 9000
modprobe -r bonding
crontab -r
su - oracle
sudo cat /etc/shadow
ssh rac2 cat /etc/hosts
curl http://10.0.0.1/
nc 10.0.0.1 80
lldpcli configure system hostname x
lldpcli -c /tmp/commands
lldpctl -u /tmp/socket
env reboot
env -i cat /etc/hosts
env PATH=/tmp cat /etc/hosts
env LD_PRELOAD=/tmp/x.so cat /etc/hosts
env -S 'reboot now'
timeout 5 reboot
timeout 5 timeout 5 rm x
timeout 5
exec 3>/tmp/x
exec cat /etc/hosts
eval cat /etc/hosts
command cat /etc/hosts
trap reboot EXIT
set -x
unset x
export PATH
umask 0
alias cat=reboot
hash -p /tmp/x cat
. /etc/profile
source /etc/profile
/tmp/cat /etc/hosts
./cat /etc/hosts
bin/cat /etc/hosts
/usr/bin/../../tmp/cat /etc/hosts
crsctl check crs
./crsctl check crs
bin/crsctl check crs
cat /dev/watchdog
cat /sys/../dev/watchdog
cat dev/watchdog
cat ../dev/watchdog
cat ./dev/watchdog
cat /dev//watchdog
cat /./dev/watchdog
cat //dev/watchdog
cat /d*/watchdog
cat /proc/kmsg
cat /sys/kernel/debug/tracing/trace_pipe
$x
"$x"
$home/bin/crsctl check crs
"$home"/bin/rm x
"$home"/bin/cat /etc/hosts
"$home"bin/crsctl check crs
"$home/$tool" check crs
c*t /etc/hosts
{cat,/etc/hosts}
~/cat
PATH=/tmp
LD_PRELOAD=/tmp/x.so
ENV=/tmp/x
racwire_token=x
PATH=/tmp cat /etc/hosts
http_proxy=x cat /etc/hosts
echo x > /etc/hosts
echo x >> /etc/hosts
echo x >| /etc/hosts
echo x > "$file"
echo x >/dev/sda
echo x >/dev/null/../sda
echo x >&file
echo x >& /tmp/x
echo x &>/tmp/x
echo x 2>/tmp/x
echo x 1<>/tmp/x
echo x >2
cat < /dev/watchdog
cat < /dev/tcp/10.0.0.1/80
cat < "$file"
cat << end
cat <<< end
cat <(reboot)
echo $((x))
echo $((a[$(reboot)]))
echo $[1]
echo ${x:=y}
echo ${x?y}
echo ${!x}
echo ${x@P}
echo ${x:1}
echo ${x/a/b}
echo ${a[0]}
echo $'a'
echo $"a"
"$@"
"$1"
$1
echo $@
echo "a$@"
echo $*
cd "$1"
shift
set -- a
cat "/$1"
cat < "$1"
((x))
((cat))
a=(b c)
a[0]=b
x+=b
function f { cat; }
cat() { reboot; }
time cat
coproc cat
for x; do cat; done
for PATH in /tmp; do cat; done
select x in a; do cat; done
"""
)
"""One refused command a line; none of these reads only, or none can be known to before it runs."""

GRID_CHANGING = _lines(
    """
crsctl stop crs
crsctl stop crs -f
crsctl start crs
crsctl disable crs
crsctl enable crs
crsctl stop cluster -all
crsctl stop res ora.rac.db
crsctl modify res ora.rac.db -attr AUTO_START=never
crsctl set css misscount 60
crsctl unset css misscount
crsctl delete node -n rac2
crsctl pin css -n rac2
crsctl relocate res x
crsctl replace votedisk +DATA
crsctl check crs stop
crsctl query
crsctl
srvctl stop database -d rac
srvctl start instance -d rac -i rac1
srvctl modify database -d rac -y manual
srvctl remove database -d rac
srvctl relocate scan -i 1
srvctl config database -d rac; srvctl stop database -d rac
oifcfg setif -global eth1/192.168.10.0:cluster_interconnect
oifcfg delif -global eth1
olsnodes -g
ocrconfig -manualbackup
ocrconfig -local -manualbackup
ocrconfig -restore /tmp/x
ocrconfig -showbackup -manualbackup
ocrconfig -repair
gpnptool get -o=/tmp/x
rootcrs.sh -lock
asmcmd rm x
cluvfy comp nodecon -n all
"""
)
"""What is in a Grid home and refused there, by its name and arguments."""

READING = _lines(
    """
cat /proc/net/snmp
cat /sys/class/net/eth1/operstate 2>/dev/null
cat < /etc/hosts
stat -L -c '%s %Y' -- '/u01/dev//backup of rac1'
/u01/dev/grid/bin/olsnodes -n -i -s -t
grep -hE '^(Ip|Udp):|^cpu' /proc/stat /proc/net/snmp 2>/dev/null
cd /sys/class/net && grep -H . -- */mtu */operstate 2>/dev/null; cd /
ip -d addr show
ip -4 route show
ip -s neigh show to 192.168.10.2 dev eth1
ip -o link show dev eth1 2>&1
ip addr
/sbin/ip route get 192.168.10.2 from 192.168.10.1
nmcli -t -f NAME,UUID,TYPE,DEVICE connection show
nmcli -g 802-3-ethernet.mtu connection show uuid "$uuid"
nmcli -g 802-3-ethernet.mtu connection show eth1
nmcli -t device status
networkctl --no-pager status eth1
systemctl is-active NetworkManager network systemd-networkd
systemctl show -p ActiveState NetworkManager
ethtool eth1
ethtool -S eth1
ethtool --json -S "$nic" --groups rmon
ethtool -g eth1
lldpctl -f keyvalue
lldpcli -f keyvalue show neighbors details
ss -Htn sport = :22
ss -t -i -n state established "( $all )"
ps -eo pid,comm,args
getent hosts rac2
hostname -s
date +%s
TAR_OPTIONS= timeout 4 nice tar --force-local -tzf "$1"
tar --force-local -tzf /var/tmp/racwire-ID/network.tar.gz
date
stat -c '%s %Y' -- /etc/hosts
sed -n 's/^crs_home=//p' /etc/oracle/olr.loc
sed 's/^/plain: /'
sed -n '1p;/^a[0-9]*$/p' -- "$file"
sort -u
ping -n -M do -s 8972 -c 3 -l 3 -i 0.2 -W 1 -I eth1 -I 192.168.10.1 192.168.10.2
env LC_ALL=C timeout -s INT 2.5 ping -6 -n -c 1 fd00::2
timeout 5 /u01/app/19.0.0/grid/bin/crsctl check crs
timeout 5 "$home/bin/crsctl" config crs
"$home"/bin/srvctl status database -d "$name"
/u01/app/19.0.0/grid/bin/ocrconfig -local -showbackup manual
home=$(sed -n 's/^crs_home=//p' /etc/oracle/olr.loc | head -n 1)
for file in /etc/sysconfig/network-scripts/ifcfg-*; do [ -r "$file" ] && grep -H '^MTU' "$file"; done
if [ ! -e /run/systemd/netif ]; then echo no; elif [ "$a" = b ]; then echo b; else echo c; fi
while IFS= read -r line; do case $line in a*|b) echo "${line#a}" ;; *) continue ;; esac; done < /etc/hosts
command -v nmcli >/dev/null && echo "it's \\"there\\": \\$5, 100$"
{ echo a; (echo b & wait); } 2>&1 | tail -n 1
cat -- "$1" "$2/$3"
echo "$@"
for file in "$@"; do stat -L -c %s -- "$file"; done
for file in "$1/$2"-*.change; do printf '%s\\n' "$file"; done
! grep -q x /etc/hosts || printf '%s\\n' "$?"
"""
)
"""One accepted program a line."""

# How a command, `%s`, can be dressed up; and whether it can be seen in it that a command which reads does only that.

"""The commands that programs of the registry may use in addition to those that may run alone, as synopses.

`checks/sources/nodes/read_only/allow_list.py` explains the syntax of a line. To add a command: find in its manual what
writes, starts or sends something, also in options after operands, and write the forms that cannot.
"""

_NMCLI = "[-t|-c no|-g WORD|-f WORD|-m (tabular|multiline)|-e (yes|no)]..."

PROGRAM_COMMANDS = f"""
: ANY
true ANY
false ANY
echo ANY
printf WORD ANY
test [!] (-n|-z|-b|-c|-d|-e|-f|-h|-L|-p|-r|-s|-S|-w|-x) VALUE
test [!] VALUE [(=|!=|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef) VALUE]
cd DIRECTORY
read [-r] NAME...
break [NUMBER]
exit VALUE
continue [NUMBER]
wait
sleep NUMBER
command -v WORD

basename ANY
cat ANY
cut ANY
dirname ANY
grep ANY
head ANY
ls ANY
readlink ANY
sed [-<nErsu>]... SED [FILE...]
sed [-<nErsu>]... -e SED [-e SED]... [FILE...]
sed [-<nErsu>]... SED -- ANY
sort [-<bfnrsuV>|-k WORD|-t VALUE]... [FILE...]
stat ANY
tail ANY
tr ANY
uniq [-<cdiu>]
wc ANY

date [-u] [FORMAT]
getent ANY
hostname [-<Afis>]
id ANY
ps ANY
uname ANY

ip [-<46dso>|-br]... (addr|address|link|route|neigh|neighbour|rule|maddr) [(show|list) ANY]
ss [-<46Haeilmnoptux>]... [state WORD] [(sport|dport|src|dst) [=] WORD [or (sport|dport) = WORD]...]
ss [-<46Haeilmnoptux>]... state WORD WORD
ip [-<46dso>]... route get (WORD|VALUE) [(from|oif|iif) (WORD|VALUE)]...
tc -s qdisc show
ethtool [-i|-k|-g|-S|-c|-a|-l|-P|-T] WORD
ethtool (-i|-g|-a|-S|-m) VALUE
ethtool -n VALUE rx-flow-hash udp4
ethtool --json -S VALUE --groups rmon
ping -V

nmcli {_NMCLI} (connection|con|c) [show [--active|WORD|(id|uuid|path) VALUE]]
nmcli {_NMCLI} (device|dev|d) [status|show [WORD]]
nmcli {_NMCLI} general [status]
networkctl [--no-pager|--no-legend|--all]... (list|status) [WORD]...
networkctl --no-pager --full lldp
systemctl [--no-pager|--quiet|-q|--value|-p WORD]... (is-active|is-enabled|show) [--value|-p WORD|WORD]...
wicked (show|ifstatus) WORD
firewall-cmd --get-active-zones
lldpctl [-f (plain|keyvalue|json|xml)] [WORD...]
lldpcli [-f (plain|keyvalue|json|xml)] show (neighbors|interfaces|chassis|configuration|statistics)\
 [details|summary|ports WORD]...
"""
"""The commands of Linux, including those built into the shell."""

# Shows for $1 seconds why this kernel drops packets, in a tracing instance of its own, which it removes.
# $2: the filter of skb:kfree_skb. $3: the filter of net:netif_receive_skb and net:net_dev_queue, empty for none.
# $4: a name for the instance. $5: the watchdog, which switches off and removes whatever becomes of this program.
# $6: most events a second. $7: kB for the buffers of all CPUs.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
umask 077
trap '' PIPE
say() { printf 'racwire %s\n' "$*"; }
for t in /sys/kernel/tracing /sys/kernel/debug/tracing ''; do
    if [ -e "$t/events/skb/kfree_skb/format" ]; then break; fi
done
if [ -z "$t" ]; then
    if [ "$(id -u)" -eq 0 ]; then say none tracefs; else say none root; fi
    exit
fi
if [ ! -w "$t/instances" ]; then say none root; exit; fi
for i in "$t"/instances/racwire-*; do
    if [ -d "$i" ]; then say none another; exit; fi
done
for w in setsid grep cut sleep; do
    if ! command -v "$w" >/dev/null; then say none "$w"; exit; fi
done
i=$t/instances/$4
# Before there is anything to switch off.
setsid sh -c "$5" racwire-watchdog "$i" "$1" $$ </dev/null >/dev/null 2>&1 &
off() {
    { echo 0 >"$i/tracing_on"; echo 0 >"$i/events/enable"; } 2>/dev/null
    n=0
    while [ -d "$i" ] && ! rmdir "$i" 2>/dev/null && [ $n -lt 20 ]; do sleep 0.1; n=$((n+1)); done
}
trap 'off; exit' EXIT
trap 'exit' HUP INT TERM
if ! mkdir "$i" 2>/dev/null; then say none instance; exit; fi
if grep -q 'reason' "$t/events/skb/kfree_skb/format"; then say reasons; fi
cpus=$(grep -c '^processor' /proc/cpuinfo)
each=$(($7 / (cpus > 0 ? cpus : 1)))
if [ "$each" -lt 8 ]; then each=8; fi
{
    echo "$each" >"$i/buffer_size_kb" && echo 0 >"$i/options/overwrite" && echo "$2" >"$i/events/skb/kfree_skb/filter" &&
    echo 0 >"$i/options/stacktrace" && echo 1 >"$i/events/skb/kfree_skb/enable"
} 2>/dev/null || { say none filter; exit; }
if [ -n "$3" ]; then
    for e in netif_receive_skb net_dev_queue; do
        { echo "$3" >"$i/events/net/$e/filter" && echo 1 >"$i/events/net/$e/enable"; } 2>/dev/null || say unmarked
    done
fi
# The events so far: those in the buffers, which nothing reads before the end, and those that found no room there.
total() {
    t=0
    for f in "$i"/per_cpu/cpu*/stats; do
        while read -r name number more; do
            case $name in
                entries:) t=$((t+number)) ;;
                dropped) t=$((t+more)) ;;
            esac
        done <"$f"
    done
}
say on
quarter=0
last=0
stopped=
while [ $quarter -lt $((4*$1)) ]; do
    sleep 0.25
    quarter=$((quarter+1))
    total
    if [ $((t-last)) -gt $(($6/4)) ]; then stopped=yes; break; fi
    last=$t
    if [ $((quarter%4)) -eq 0 ]; then say second $((quarter/4)) 2>/dev/null || exit; fi
done
echo 0 >"$i/tracing_on"
events=$(grep -v '^#' "$i/trace")
missed=$(grep -h '^dropped events: [1-9]' "$i"/per_cpu/cpu*/stats | cut -d ' ' -f 3)
# Nothing is on any more, and nothing holds the instance, before the first event is printed.
off
printf '%s\n' "$events" || exit
say missed $missed
if [ -n "$stopped" ]; then say stopped $(((quarter+3)/4)); else say off; fi

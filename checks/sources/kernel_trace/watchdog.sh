# $1: the tracing instance. $2: how many seconds it may run. $3: the program that made it.
trap '' HUP INT TERM
n=0
while [ $n -le "$2" ]; do
    sleep 1
    n=$((n+1))
    if [ ! -d "$1" ]; then exit; fi
done
while [ -d "$1" ] && [ $n -lt 120 ]; do
    echo 0 >"$1/tracing_on"
    echo 0 >"$1/events/enable"
    if grep -q racwire-drops "/proc/$3/cmdline"; then kill -KILL "$3"; fi
    if rmdir "$1"; then exit; fi
    sleep 1
    n=$((n+1))
done

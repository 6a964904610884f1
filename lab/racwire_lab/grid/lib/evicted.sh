# Ends the cluster stack of a node that CSS evicted, and lets the node join again when it reaches the others. Started by the
# node's CSS (programs/cache_fusion/css.py). As since 11.2.0.2, the node does not reboot.
. "${0%/*}/stack.sh"
. "$grid/lib/starting.sh"
end_daemons upper
for service in crsd evmd cssd instance; do ended "$service"; done
remove_haips
while [ "$(cat "$stack/target")" = ONLINE ] && running ohasd && ! running cssd; do
    sleep 1
    [ "$(cat "$stack/target")" = ONLINE ] && start_cluster >/dev/null 2>&1 && break
done

# What every login on a node runs. Arguments: the node's directory.
while [ -e "$1/hangs" ]; do sleep 1; done
# An ordinary user's own path may lack it, and there are the commands of the node's system.
export PATH="$PATH:/usr/sbin"
if [ -n "${SSH_ORIGINAL_COMMAND-}" ]; then
    exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
fi
exec /bin/sh -i

# What every login on a node runs. Arguments: the node's directory.
while [ -e "$1/hangs" ]; do sleep 1; done
if [ -n "${SSH_ORIGINAL_COMMAND-}" ]; then
    exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
fi
exec /bin/sh -i

# Every login on a node runs this script. Argument: the node's directory.
while [ -e "$1/hangs" ]; do sleep 1; done
# The PATH of an ordinary user may lack /usr/sbin, where the node's own system commands are.
export PATH="$PATH:/usr/sbin"
if [ -n "${SSH_ORIGINAL_COMMAND-}" ]; then
    exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"
fi
exec "$SHELL" -i

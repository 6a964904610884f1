# Every login on a node runs this script. Argument: the node's directory.
while [ -e "$1/hangs" ]; do sleep 1; done
# The PATH of an ordinary user may lack /usr/sbin, where the node's own system commands are.
export PATH="$PATH:/usr/sbin"
# A node that answers as another system: its `uname` prints the content of a file.
if [ -e "$1/system" ]; then
    export PATH="$1/other_system:$PATH"
fi
if [ -n "${SSH_ORIGINAL_COMMAND-}" ]; then
    exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"
fi
exec "$SHELL" -i

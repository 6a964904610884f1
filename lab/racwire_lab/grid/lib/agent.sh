# Carries out the orders from other nodes, one after the other, while the node's ohasd lives.
# An order is a line in the pipe nodes/NODE/stack/orders: the file for the answer, then the arguments for crsctl.
# The answer is the output of crsctl and, on the last line, its exit status. The file appears complete or not at all.
. "${0%/*}/stack.sh"
exec 3<>"$stack/orders"
while read -r answer order <&3; do
    # shellcheck disable=SC2086 # the arguments of the order
    "$grid/bin/crsctl" $order >"$answer.part" 2>&1 3<&-
    echo "$?" >>"$answer.part"
    mv "$answer.part" "$answer"
done

# Carries out on its node what is ordered from others, one order after the other, for as long as the node's ohasd lives.
# An order is a line in the pipe nodes/NODE/stack/orders: the file for the answer, then the words for crsctl.
# The answer is what crsctl said and, on a last line, its exit status; it is there as a whole or not at all.
. "${0%/*}/stack.sh"
exec 3<>"$stack/orders"
while read -r answer order <&3; do
    # shellcheck disable=SC2086 # the words of the order
    "$grid/bin/crsctl" $order >"$answer.part" 2>&1 3<&-
    echo "$?" >>"$answer.part"
    mv "$answer.part" "$answer"
done

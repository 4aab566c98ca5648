# Checks the output of `objdump -p` for a program: in the table that Windows uses to unwind the stack, no entry may begin before the end of
# the previous entry. Running the program is not a sufficient test, because wrong entries do not always change what it does.
/interpreted \.pdata/ { table = 1; next }
/^Dump of \.xdata/ { table = 0 }
table && $1 ~ /^[0-9a-f]+:$/ {
    # Compares texts, because awk would read some addresses as numbers with an exponent.
    if ($3 "" <= $2 "" || $2 "" < end "") { print "overlaps:", $0; wrong++ }
    end = $3
    entries++
}
END { exit wrong > 0 || !entries }

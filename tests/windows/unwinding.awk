# What `objdump -p` says of a program: each function's entry of the table by which Windows unwinds the stack begins where the one before
# it has ended. Wrong entries need not show in what a program does.
/interpreted \.pdata/ { table = 1; next }
/^Dump of \.xdata/ { table = 0 }
table && $1 ~ /^[0-9a-f]+:$/ {
    # Texts: some addresses read as numbers with an exponent.
    if ($3 "" <= $2 "" || $2 "" < end "") { print "overlaps:", $0; wrong++ }
    end = $3
    entries++
}
END { exit wrong > 0 || !entries }

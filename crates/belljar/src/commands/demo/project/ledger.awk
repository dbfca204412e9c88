# Adds up invoices by customer: `awk -F, -f src/ledger.awk data/invoices.csv`.
NR > 1 {
    seen = 0
    for (i = 1; i <= count; i++) if (names[i] == $2) { sums[i] += $4; seen = 1 }
    if (!seen) { names[++count] = $2; sums[count] = $4 }
}
END { for (i = 1; i <= count; i++) printf "%s,%.2f\n", names[i], sums[i] }

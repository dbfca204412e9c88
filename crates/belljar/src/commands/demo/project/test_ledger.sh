sums() { awk -F, -f src/ledger.awk data/invoices.csv; }

test_every_customer_once() { [ "$(sums | cut -d, -f1 | sort | uniq -d | wc -l)" -eq 0 ]; }

test_nothing_is_lost() {
    whole=$(awk -F, 'NR > 1 { all += $4 } END { printf "%.2f", all }' data/invoices.csv)
    parts=$(sums | awk -F, '{ all += $2 } END { printf "%.2f", all }')
    [ "$whole" = "$parts" ] || { echo "$whole is not $parts"; return 1; }
}

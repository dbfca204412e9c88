. src/retry.sh

test_first_attempt_is_short() { [ "$(delay 0 1)" -lt 200 ]; }

test_waits_longer_each_time() { [ "$(delay 3 7)" -gt "$(delay 1 7)" ]; }

test_caps_at_max_delay() {
    for seed in $(seq 1 "${SEEDS:-120}"); do
        wait=$(delay 9 "$seed")
        [ "$wait" -le "$MAX_DELAY" ] || { echo "seed $seed: waits $wait ms, more than $MAX_DELAY"; return 1; }
    done
}

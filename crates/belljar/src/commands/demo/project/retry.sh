# How long to wait before the next attempt, in milliseconds: twice as long each time, a little of it by chance.
MAX_DELAY=5000

# delay ATTEMPT SEED
delay() {
    awk -v attempt="$1" -v seed="$2" -v max="$MAX_DELAY" 'BEGIN {
        srand(seed)
        base = 100 * 2 ^ attempt
        if (base > max) base = max
        printf "%d\n", base * (1 + rand() / 2)
    }'
}

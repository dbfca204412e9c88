package shop;

import java.util.ArrayList;
import java.util.List;

class Ledger {
    static final int LIMIT = 40; // fine: CoM
    static List<String> names = new ArrayList<>(); // flag: CoI static-mutable
    static final List<String> ROLES = List.of("a", "b"); // fine: CoI
    private boolean ready;

    void remember(String name) {
        names.add(name);
    }

    int known() {
        return names.size();
    }

    void prepare() {
        ready = true;
    }

    void run() {
        if (!ready) { // flag: CoE state-guard
            throw new IllegalStateException("not ready");
        }
    }

    boolean same(String left) {
        return left == "admin"; // flag: CoI literal-identity
    }

    boolean equal(String left, String right) {
        return left.equals(right); // fine: CoI
    }

    int rate(int role, int years) {
        if (role == 1) { // flag: CoM coded-value
            return years;
        }
        if (years > 17) { // flag: CoM magic-number-cond
            return LIMIT; // fine: CoM
        }
        return 0; // fine: CoM
    }

    void book(String from, String to, String date, String seat) { // flag: CoP many-positional
    }

    void put(Object value) { // flag: CoT
    }

    void settle() throws InterruptedException {
        prepare();
        Thread.sleep(250); // flag: CoTm sleep-sync
    }

    void join(Thread thread) throws InterruptedException {
        thread.start();
        thread.join(); // fine: CoTm
    }
}

import java.util.ArrayList;
import java.util.List;

class Shop {
    private static final int LIMIT = 250; // fine: CoM
    static List<String> names = new ArrayList<>(); // flag: CoI static-mutable

    private boolean started = false;
    private int level;

    static void add(String name) {
        names.add(name);
    }

    void start() {
        started = true;
    }

    void sell() {
        if (!started) { // flag: CoE state-guard
            throw new IllegalStateException("start first");
        }
    }

    boolean isHigh() {
        return level == 9; // flag: CoM coded-value
    }

    boolean isAdmin(String name) {
        return name == "admin"; // flag: CoI literal-identity
    }

    boolean isRoot(String name) {
        return "root".equals(name); // fine: CoI
    }

    void clock(int hour, int minute, int second, int millis) { // flag: CoP many-positional
        show(hour, minute, second, millis);
    }

    void pause() throws InterruptedException {
        boot();
        Thread.sleep(4000); // flag: CoTm sleep-sync
        show(0, 0, 0, 0);
    }

    boolean isTooMany(int count) {
        return count > LIMIT; // fine: CoM
    }
}

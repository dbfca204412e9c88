import java.util.Map;

class Threads {
    static Map<Integer, String> errorCodes = Map.of(1, "fatal", 2, "not so fatal"); // flag: CoM coded-value
    static final Map<Integer, String> ERROR_CODES = Map.of(1, "fatal", 2, "not so fatal"); // fine: CoM

    void lose(Runnable work) {
        Thread thread = new Thread(work); // flag: CoTm detached
        thread.setDaemon(true);
        thread.start();
    }

    void join(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work); // fine: CoTm
        thread.start();
        thread.join();
    }

    Thread handOver(Runnable work) {
        Thread thread = new Thread(work); // fine: CoTm
        thread.start();
        return thread;
    }
}

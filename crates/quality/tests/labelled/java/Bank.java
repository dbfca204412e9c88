package bank;

import java.util.*;
import java.util.concurrent.*;

public class Bank {
    public static final int MAX = 17; // fine: CoM
    private static final Map<String, Integer> RATES = Map.of("a", 1); // fine: CoI
    private static final Map<String, Integer> cache = new HashMap<>(); // flag: CoI static-mutable
    private static int count = 0; // flag: CoI static-mutable
    private boolean open = false;
    private Connection connection = null;
    private int balance;
    private int status;

    public static void remember(String key, int value) {
        cache.put(key, value);
        count++;
    }

    public static int recall(String key) {
        return cache.get(key) + count;
    }

    public void open() {
        this.open = true;
    }

    public void connect(Connection c) {
        this.connection = c;
    }

    public void deposit(int amount) {
        if (!open) { // flag: CoE state-guard
            throw new IllegalStateException("closed");
        }
        balance += amount;
    }

    public String query(String sql) {
        if (connection == null) { // flag: CoE state-guard
            throw new IllegalStateException("connect first");
        }
        return connection.run(sql);
    }

    public void require(String name) {
        if (name == null) { // fine: CoE
            throw new IllegalArgumentException("name");
        }
    }

    public int judge(Customer customer, int age) {
        if (customer.getStatus() == 3) { // flag: CoM coded-value
            return 0;
        }
        if (age >= 18) { // flag: CoM magic-number-cond
            return 1;
        }
        if (customer.name.length() > 5) { // fine: CoM
            return 2;
        }
        switch (customer.type) { // flag: CoM coded-value
            case 1:
                return 10;
            case 2:
                return 100;
        }
        return age * 37; // flag: CoM magic-number-arith
    }

    public boolean same(String name, Integer size) {
        if (name == "root") { // flag: CoI literal-identity
            return true;
        }
        return name == null; // fine: CoI
    }

    public boolean equal(String name) {
        return "root".equals(name); // fine: CoI
    }

    public void create(String first, String last, String street, String city) { // flag: CoP many-positional
    }

    public void typed(String first, int age, boolean staff, double rate) { // fine: CoP
    }

    public Time noon() {
        return new Time(12, 12, 12); // flag: CoP swappable-call
    }

    public SafeTime safe() {
        return new SafeTime(new Hour(12), new Minute(12), new Second(12)); // fine: CoP
    }

    public void accept(Object value) { // flag: CoT any-type
    }

    public <T> T generic(T value) { // fine: CoT
        return value;
    }

    public int add(int a) { return a; } // fine: CoN
    public int add(int a, int b) { return a + b; } // fine: CoN

    public void boot(Server server) throws Exception {
        server.start();
        Thread.sleep(3000); // flag: CoTm sleep-sync
    }

    public void poll(Server server) throws Exception {
        while (!server.ready()) {
            Thread.sleep(100); // fine: CoTm
        }
    }

    public void detach(Runnable work) {
        new Thread(work).start(); // flag: CoTm detached
    }

    public void joined(Runnable work) throws Exception {
        Thread thread = new Thread(work); // fine: CoTm
        thread.start();
        thread.join();
    }

    public void finish(Email email) {
        email.setSubject("a"); // fine: CoE
        email.send();
        email.setBody("late"); // flag: CoE use-after-terminal
    }

    public int sumPrices(List<Item> items) { // flag: CoA clone
        int total = 0;
        for (Item item : items) {
            int line = item.price * item.count;
            total += line;
        }
        return total;
    }

    public int cartValue(List<Item> goods) { // flag: CoA clone
        int value = 0;
        for (Item good : goods) {
            int row = good.price * good.count;
            value += row;
        }
        return value;
    }

    public int getBalance() { return balance; } // fine: CoA
    public int getStatus() { return status; } // fine: CoA
}

class Time {
    Time(int hour, int minute, int second) {}
}

class SafeTime {
    SafeTime(Hour hour, Minute minute, Second second) {}
}

class House {
    double getHeatPumpPrice() { return 10.50; } // flag: CoV
}

class Flat {
    double getHeatPumpPrice() { return 10.50; } // flag: CoV
}

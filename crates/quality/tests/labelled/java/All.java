package shop;

import java.util.*;

public class All {
  private static final int LIMIT = 25; // fine: CoM
  private static final List<String> DAYS = List.of("mon"); // fine: CoI
  private static Map<String, Integer> cache = new HashMap<>(); // flag: CoI static-mutable
  private static int counter = 0; // flag: CoI static-mutable
  private final List<String> names = new ArrayList<>(); // fine: CoI
  private boolean open = false;
  private Connection conn;
  private String report;
  private int total;
  private final Object left = new Object();
  private final Object right = new Object();

  public static void put(String key, int value) {
    cache.put(key, value);
    counter++;
  }

  public int days() {
    return DAYS.size() + names.size();
  }

  public void open() {
    this.open = true;
  }

  public void deposit(int amount) {
    if (!open) { // flag: CoE state-guard
      throw new IllegalStateException("not open");
    }
    total += amount;
  }

  public void connect(Source source) {
    conn = source.connection();
  }

  public int query(String text) {
    if (conn == null) { // flag: CoE state-guard
      throw new IllegalStateException("connect first");
    }
    return conn.run(text);
  }

  public int check(Integer amount) {
    if (amount == null) { // fine: CoE
      throw new IllegalArgumentException("no amount");
    }
    return amount;
  }

  public void prepare() {
    this.report = "rows"; // flag: CoE field-handoff
  }

  public String print() {
    return this.report.trim();
  }

  public void run(All job) {
    job.prepare();
    job.print(); // flag: CoE field-handoff
  }

  public int judge(Order order, int age, Response response) {
    if (order.getStatus() == 1) { // flag: CoM coded-value
      return 0;
    }
    if (age > 18) { // flag: CoM magic-number-cond
      return 1;
    }
    if (response.code() == 404) { // fine: CoM
      return 2;
    }
    switch (order.type) { // flag: CoM coded-value
      case 3:
        return 10;
      default:
        break;
    }
    String name = order.name();
    if (name == "open") { // flag: CoI literal-identity
      return 0;
    }
    if (name == null) { // fine: CoI
      return 0;
    }
    if (name.equals("open")) { // fine: CoI
      return 1;
    }
    return age * 37 + age * 60; // flag: CoM magic-number-arith
  }

  public boolean same(Integer one, Integer two, int three) {
    boolean plain = three == total; // fine: CoI
    return one == two || plain; // flag: CoI literal-identity
  }

  public void route(String name, String method, String path, int size) { // flag: CoP many-positional
    names.add(name + method + path + size);
  }

  public void typed(String name, int size, boolean ready, Order order) { // fine: CoP
    names.add(name + size + ready + order);
  }

  @Override
  public void dictated(String a, String b, String c, String d) { // fine: CoP
    names.add(a + b + c + d);
  }

  public Time lunch() {
    return new Time(12, 12, 12); // flag: CoP swappable-call
  }

  public Time later(Hour hour, Minute minute) {
    return new Time(hour, minute, Second.ZERO); // fine: CoP
  }

  public Object[] details(Order order) {
    return new Object[] {order.name(), order.type, true}; // flag: CoP positional-record
  }

  public Object detail(Order order) { // flag: CoT any-type
    Object[] found = details(order);
    return found[2];
  }

  public void accept(Object value) { // flag: CoT any-type
    names.add(value.toString());
  }

  @Override
  public boolean equals(Object other) { // fine: CoT
    return other == this;
  }

  public <T> T generic(T value) { // fine: CoT
    return value;
  }

  public void boot(Server server) throws InterruptedException {
    server.start();
    Thread.sleep(3000); // flag: CoTm sleep-sync
  }

  public void poll(Server server) throws InterruptedException {
    while (!server.ready()) {
      Thread.sleep(50); // fine: CoTm
    }
  }

  public void held(Server server) throws InterruptedException {
    synchronized (left) {
      Thread.sleep(50); // fine: CoTm
    }
  }

  public void detach(Runnable work) {
    new Thread(work).start(); // flag: CoTm detached
  }

  public int forward() {
    synchronized (left) {
      synchronized (right) { // flag: CoE lock-order
        return 1;
      }
    }
  }

  public int backward() {
    synchronized (right) {
      synchronized (left) { // flag: CoE lock-order
        return 2;
      }
    }
  }

  public void mail(Email email) {
    email.send();
    email.setSubject("late"); // flag: CoE use-after-terminal
  }

  public void flags(Canvas canvas) {
    canvas.paint(true, false); // flag: CoP bool-trap
  }

  public double overload(int a) { // fine: CoN
    return a;
  }

  public double overload(double a) { // fine: CoN
    return a;
  }

  public int sumOpen(List<Order> orders) { // flag: CoA clone
    int total = 0;
    for (Order order : orders) {
      if (order.open && order.total > 0) {
        total += order.total;
      }
    }
    return total;
  }

  public int addOpen(List<Order> bills) { // flag: CoA clone
    int sum = 0;
    for (Order bill : bills) {
      if (bill.open && bill.total > 0) {
        sum += bill.total;
      }
    }
    return sum;
  }
}

record Time(int hour, int minute, int second) {}

class OilHeater {
  double getHeatPumpPrice() {
    return 10.50; // flag: CoV same-name-same-literal
  }
}

class GasHeater {
  double getHeatPumpPrice() {
    return 10.50; // flag: CoV same-name-same-literal
  }
}

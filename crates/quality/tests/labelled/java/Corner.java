package corner;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.*;

public class Corner {
    private static final Logger LOG = LoggerFactory.getLogger(Corner.class); // fine: CoI
    private static final List<String> listeners = new ArrayList<>(); // flag: CoI static-mutable
    public static String current; // flag: CoI static-mutable
    private static final Set<String> WORDS = Set.of("a"); // fine: CoI
    private static final int MAX_RETRIES = 7; // flag: CoV shadowed-constant
    private static Corner instance;
    private final Object left = new Object();
    private final Object right = new Object();
    private Config config;
    private boolean initialized;
    private int state;

    public static void listen(String name) { listeners.add(name); }
    public static int listening() { return listeners.size(); }
    public static void use(String name) { current = name; }
    public static String used() { return current; }

    public void init(Config config) {
        this.config = config;
        this.initialized = true;
    }

    public String host() {
        if (!this.initialized) { // flag: CoE state-guard
            throw new IllegalStateException("init first");
        }
        return config.host();
    }

    public String port() {
        Objects.requireNonNull(config, "init first"); // flag: CoE state-guard
        return config.port();
    }

    public Config lazily() {
        if (config == null) { // fine: CoE
            config = new Config();
        }
        return config;
    }

    public boolean tooOften(int retries) {
        return retries > 7; // flag: CoV shadowed-constant flag: CoM magic-number-cond
    }

    public String name(int code, Order order) {
        if (order.state == 2) return "x"; // flag: CoM coded-value
        if (order.getKind() != 0) return "k"; // flag: CoM coded-value
        if (code == 404) return "missing"; // fine: CoM
        if (order.lines.size() > 25) return "long"; // flag: CoM magic-number-cond
        return switch (order.level) { // flag: CoM coded-value
            case 1 -> "one";
            case 2 -> "two";
            default -> "many";
        };
    }

    public boolean byName(String kind) {
        return kind.equals("open"); // fine: CoM
    }

    public double vat(double net) { return net * 0.19; } // flag: CoM magic-number-arith
    public long day() { return 24L * 60 * 60 * 1000; } // fine: CoM

    public Corner(String host, String user, String password, String database) { // flag: CoP many-positional
    }

    public Corner() {} // fine: CoN

    public Object[] person() {
        return new Object[] {"Ada", "Lovelace", 1984, true}; // flag: CoP positional-record
    }

    public boolean admin() {
        return (boolean) person()[3]; // flag: CoP
    }

    public void draw(Canvas canvas) {
        canvas.line(1, true, false); // flag: CoP bool-trap
    }

    public String read(String path) throws IOException {
        FileReader reader = new FileReader(path); // flag: CoE unpaired
        return "" + reader.read();
    }

    public String readWell(String path) throws IOException {
        try (FileReader reader = new FileReader(path)) { // fine: CoE
            return "" + reader.read();
        }
    }

    public void one() {
        synchronized (left) {
            synchronized (right) { // flag: CoE lock-order
                state++;
            }
        }
    }

    public void two() {
        synchronized (right) {
            synchronized (left) { // flag: CoE lock-order
                state--;
            }
        }
    }

    public String load(Path path) throws IOException {
        if (Files.exists(path)) { // flag: CoTm toctou
            return Files.readString(path);
        }
        return "";
    }

    public boolean boxed(Integer size) {
        return size == 1000; // fine: CoI
    }

    public boolean literal(String text) {
        return text != "none"; // flag: CoI literal-identity
    }

    public String encrypt(String text) { // flag: CoA
        StringBuilder out = new StringBuilder();
        for (char letter : text.toCharArray()) {
            int code = letter + 2;
            out.append((char) code);
        }
        return out.toString();
    }

    public String decrypt(String text) { // flag: CoA
        StringBuilder out = new StringBuilder();
        for (char letter : text.toCharArray()) {
            int code = letter - 2;
            out.append((char) code);
        }
        return out.toString();
    }

    @Override
    public boolean equals(Object other) { // fine: CoT
        return other == this;
    }

    @Override
    public int hashCode() { return 31 * state; } // fine: CoM

    @SuppressWarnings("unchecked") // flag: CoT unchecked-cast
    public List<String> cast(Map<String, Object> map) { // fine: CoT
        return (List<String>) map.get("x");
    }
}

class Ports {
    static final int ORDER_PORT = 7441; // fine: CoV
}

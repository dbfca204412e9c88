class Time {
    Time(int hour, int minute, int second) {
        this.total = hour + minute + second;
    }

    private int total;
}

class Clock {
    Time noon() {
        return new Time(12, 12, 12); // flag: CoP swappable-call
    }

    Object any(Object thing) { // fine: CoP flag: CoT
        return thing;
    }

    synchronized int tick(int now) { // fine: CoTm
        return now + 1; // fine: CoM
    }
}

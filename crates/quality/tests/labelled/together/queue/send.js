export function send(bus, job) {
  bus.push("invoice-queue", job); // flag: CoV repeated-string
}

export function cancel(bus, job) {
  bus.drop("invoice-queue", job); // flag: CoV repeated-string
}

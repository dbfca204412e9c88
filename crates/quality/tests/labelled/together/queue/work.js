export function work(bus) {
  return bus.take("invoice-queue"); // flag: CoV repeated-string
}

export function shout(bus) {
  return bus.take("anything"); // fine: CoV
}

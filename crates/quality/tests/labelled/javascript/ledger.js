const PAGE = 25; // fine: CoM
export let subscribers = []; // flag: CoI module-mutable

export function subscribe(listener) {
  subscribers.push(listener);
}

export function publish(event) {
  subscribers.forEach((listener) => listener(event));
}

export function isLate(order, days) {
  if (order.status === 3) return true; // flag: CoM coded-value
  if (order.mode === "express") return days > 1; // flag: CoM magic-string-eq
  if (typeof order.note === "string") return false; // fine: CoM
  if (order.items.length > 5) return false; // fine: CoM
  return days > 21; // flag: CoM magic-number-cond
}

export function ship(order, carrier, street, city) { // flag: CoP many-positional
  return [order, carrier, street, city];
}

export function shipTo({ order, carrier, street, city }) { // fine: CoP
  return `${order} ${carrier} ${street} ${city}`;
}

export function fetchPage(response) {
  if (response.status === 404) return null; // fine: CoM
  return response.items.slice(0, PAGE); // fine: CoM
}

class Store {
  async save(item) {
    return this.db.put(item);
  }

  async saveAll(items) {
    for (const item of items) {
      this.save(item); // flag: CoTm floating-async
    }
  }

  async saveLater(item) {
    void this.save(item); // fine: CoTm
  }

  async saveNow(item) {
    await this.save(item); // fine: CoTm
  }

  async count() {
    const before = this.total; // flag: CoTm rmw-across-await
    await this.db.flush();
    this.total = before + 1;
  }
}

export function mail(email) {
  email.send();
  email.setSubject("late"); // flag: CoE use-after-terminal
}

export const store = new Store();

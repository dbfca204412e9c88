interface Mail { to: string; kind: "open" | "closed" }

export function deliver(mail: any): void {  // flag: CoT
  post(mail);
}

export function deliverSafely(mail: unknown): void {  // fine: CoT
  post(mail);
}

export function coerce(mail: Mail): number {
  return mail as unknown as number;  // flag: CoT
}

export function isOpen(mail: Mail): boolean {
  return mail.kind === "open";  // fine: CoM
}

export function isNumber(value: unknown): boolean {
  return typeof value === "number";  // fine: CoM
}

export function isPaid(order: { paymentStatus: number }): boolean {
  return order.paymentStatus === 2;  // flag: CoM coded-value
}

export function phaseName(phase: number): string {
  switch (phase) {
    case 4:  // flag: CoM coded-value
      return "done";
    default:
      return "open";
  }
}

export function notFound(response: { status: number }): boolean {
  return response.status === 404;  // fine: CoM
}

export function book(name: string, street: string, city: string, country: string): string {  // flag: CoP many-positional
  return name + street + city + country;
}

export function bookAll({ name, street, city, country }: Record<string, string>): string {  // fine: CoP
  return `${name}${street}${city}${country}`;
}

class Store {
  private total = 0;

  async save(sale: number): Promise<void> {
    await write(sale);
  }

  async close(sale: number): Promise<void> {
    this.save(sale);  // flag: CoTm floating-async
  }

  async closeInOrder(sale: number): Promise<void> {
    await this.save(sale);  // fine: CoTm
    void this.save(sale);  // fine: CoTm
  }

  async add(amount: number): Promise<void> {
    const before = this.total;
    await write(amount);
    this.total = before + amount;  // flag: CoTm rmw-across-await
  }
}

export const TIMEOUT_MS = 30 * 1000;  // fine: CoM

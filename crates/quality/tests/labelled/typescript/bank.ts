import { EventEmitter } from "events";
import * as fs from "fs";

export const enum Size { Small = 3, Large = 8 } // fine: CoM
export enum Status { Open = 0, Closed = 1 } // fine: CoM
const TIMEOUT_MS = 5 * 60 * 1000; // fine: CoM
export const handlers: Record<string, () => void> = {}; // flag: CoI module-mutable
let instance: Connection | null = null;
const cacheNames = ["a", "b"] as const; // fine: CoI

export function on(name: string, handler: () => void): void {
  handlers[name] = handler;
}

export function fire(name: string): void {
  handlers[name]();
}

export function names(): readonly string[] {
  return cacheNames;
}

class Connection {
  private socket: string | null = null;
  private connected: boolean = false;
  count = 0;

  connect(): void {
    this.socket = "x";
    this.connected = true;
  }

  query(sql: string): string {
    if (!this.connected) { // flag: CoE state-guard
      throw new Error("not connected");
    }
    return sql;
  }

  raw(): string {
    if (this.socket === null) { // flag: CoE state-guard
      throw new Error("connect first");
    }
    return this.socket;
  }

  async increment(): Promise<void> {
    const current = this.count;
    await this.flush();
    this.count = current + 1; // flag: CoTm rmw-across-await
  }

  async flush(): Promise<void> {}

  async shut(): Promise<void> {
    this.flush(); // flag: CoTm floating-async
    await this.flush(); // fine: CoTm
    void this.flush(); // fine: CoTm
    this.flush().then(() => 1); // fine: CoTm
    return this.flush(); // fine: CoTm
  }
}

export function label(payment: { status: number; amount: number }): string {
  if (payment.status === 0) { // flag: CoM coded-value
    return "pending";
  }
  if (payment.amount > 9999) { // flag: CoM magic-number-cond
    return "large";
  }
  if (payment.status === Status.Closed) { // fine: CoM
    return "closed";
  }
  return "other";
}

export function explain(res: { status: number }, e: { kind: "a" | "b" }, v: unknown): string {
  if (res.status === 404) return "missing"; // fine: CoM
  if (e.kind === "a") return "a"; // fine: CoM
  if (typeof v === "string") return v; // fine: CoM
  if (res.status >= 500) return "server"; // fine: CoM
  return "fine";
}

export function rate(mode: number): number {
  switch (mode) { // flag: CoM coded-value
    case 1:
      return 0;
    case 2:
      return 1;
    default:
      return 2;
  }
}

export function createUser(first: string, last: string, street: string, city: string): string { // flag: CoP many-positional
  return first + last + street + city;
}

export function createPet({ first, last, street, city }: Record<string, string>): string { // fine: CoP
  return first + last + street + city;
}

export function distinct(a: string, b: number, c: boolean, d: Date): string { // fine: CoP
  return a + b + c + d;
}

export function withDefaults(a: string, b = 1, c = 2, d = 3): string { // fine: CoP
  return a + b + c + d;
}

class Time {
  constructor(private hour: number, private minute: number, private second: number) {}
}

export function noon(): Time {
  return new Time(12, 12, 12); // flag: CoP swappable-call
}

class Hour { constructor(readonly value: number) {} }
class Minute { constructor(readonly value: number) {} }
class Second { constructor(readonly value: number) {} }
class SafeTime { constructor(h: Hour, m: Minute, s: Second) {} }

export function safeNoon(): SafeTime {
  return new SafeTime(new Hour(12), new Minute(12), new Second(12)); // fine: CoP
}

export function send(mail: any): void { // flag: CoT any-type
  console.log(mail);
}

export function generic<T extends object>(value: T): keyof T { // fine: CoT
  return Object.keys(value)[0] as keyof T; // fine: CoT
}

export function cast(value: string): number {
  return value as any; // flag: CoT unchecked-cast
}

export const load = async (path: string): Promise<string> => {
  if (fs.existsSync(path)) { // flag: CoTm toctou
    return fs.readFileSync(path, "utf8");
  }
  return "";
};

export async function boot(server: EventEmitter): Promise<void> {
  server.emit("start");
  await new Promise((r) => setTimeout(r, 3000)); // flag: CoTm sleep-sync
}

export async function pollStatus(check: () => boolean): Promise<void> {
  while (!check()) {
    await new Promise((r) => setTimeout(r, 250)); // fine: CoTm
  }
}

export function close(stream: fs.WriteStream): void {
  stream.close();
  stream.write("late"); // flag: CoE use-after-terminal
}

export function overload(a: string): string; // fine: CoN
export function overload(a: number): number; // fine: CoN
export function overload(a: any): any { return a; } // fine: CoN fine: CoT

export function sumPrices(items: { price: number; count: number }[]): number { // flag: CoA clone
  let total = 0;
  for (const item of items) {
    if (item.count > 0) {
      total += item.price * item.count;
    }
  }
  return total;
}

export function cartValue(products: { price: number; count: number }[]): number { // flag: CoA clone
  let value = 0;
  for (const product of products) {
    if (product.count > 0) {
      value += product.price * product.count;
    }
  }
  return value;
}

export class HeatPump { getHeatPumpPrice(): number { return 10.5; } } // flag: CoV
export class Offer { getHeatPumpPrice(): number { return 10.5; } } // flag: CoV

export function getInstance(): Connection {
  if (instance === null) { // fine: CoE
    instance = new Connection(); // flag: CoI global-state
  }
  return instance;
}

export function current(): Connection | null {
  return instance;
}

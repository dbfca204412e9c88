import { Request } from "express";

type Hook = (a: any, b: any, c: any, d: any) => void; // fine: CoP
export enum Level { Low = 3, High = 7 } // fine: CoM
const limits = { status: 4 }; // flag: CoM coded-value

export function send(mail: any): void { // flag: CoT any-type
  mail.deliver();
}

export function load(): Promise<any> { // flag: CoT any-type
  return fetchIt();
}

async function fetchIt(): Promise<unknown> { // fine: CoT
  return null;
}

export function keep<T>(value: T, other: unknown): T { // fine: CoT
  return other ? value : value;
}

export function log(...parts: any[]): void { // fine: CoT
  console.log(parts);
}

export function cast(value: unknown, event: { kind: "open" | "shut" }) {
  const loose = value as any; // flag: CoT unchecked-cast
  const twice = value as unknown as Request; // flag: CoT unchecked-cast
  const exact = value as Request; // fine: CoT
  const frozen = ["a"] as const; // fine: CoT
  if (event.kind === "open") { // fine: CoM
    return loose;
  }
  // @ts-ignore  // flag: CoT unchecked-cast
  return [twice, exact, frozen].missing;
}

function overloaded(a: string): string; // fine: CoN
function overloaded(a: number): string; // fine: CoN
function overloaded(a: unknown): string { // fine: CoN
  return String(a);
}

export function route(res: Request, level: number, user: { role: number }) {
  if (res.statusCode === 403) { // fine: CoM
    return 1;
  }
  if (level > 42) { // flag: CoM magic-number-cond
    return 2;
  }
  if (user.role === 1) { // flag: CoM coded-value
    return 0;
  }
  return overloaded("x") ? 0 : 1;
}

export function open(host: string, path: string, user: string, port: number) { // flag: CoP many-positional
  return host + path + user + port;
}

export function distinct(host: string, port: number, tls: boolean, req: Request) { // fine: CoP
  return [host, port, tls, req];
}

export function optional(host: string, path?: string, user?: string, port?: string) { // fine: CoP
  return [host, path, user, port];
}

export class Moment {
  constructor(private hour: number, private minute: number, private second: number) {}

  label(): string {
    return [this.hour, this.minute, this.second].join(":");
  }
}

export const start = new Moment(9, 30, 15); // flag: CoP swappable-call

export class Cache {
  private static entries = new Map<string, string>(); // flag: CoI static-mutable
  static readonly names = ["a", "b"]; // fine: CoI
  private socket: WebSocket | null = null;

  static put(key: string, value: string) {
    Cache.entries.set(key, value);
  }

  connect(url: string) {
    this.socket = new WebSocket(url);
  }

  push(text: string) {
    if (this.socket === null) { // flag: CoE state-guard
      throw new Error("connect first");
    }
    this.socket.send(text);
  }

  lazily(url: string) {
    if (this.socket === null) { // fine: CoE
      this.socket = new WebSocket(url);
    }
    return this.socket;
  }

  private async flush(): Promise<void> {
    await fetchIt();
  }

  async stop() {
    this.flush(); // flag: CoTm floating-async
    fetchIt(); // flag: CoTm floating-async
    await this.flush(); // fine: CoTm
  }
}

export async function settle(app: { start(): void }) {
  app.start();
  await new Promise((r) => setTimeout(r, 1000)); // flag: CoTm sleep-sync
}

export function summarize(orders: Order[]): number { // flag: CoA clone
  let total = 0;
  for (const order of orders) {
    if (order.paid && order.amount > 0) {
      total += order.amount;
    }
  }
  return Math.round(total);
}

export function tally(bills: Order[]): number { // flag: CoA clone
  let sum = 0;
  for (const bill of bills) {
    if (bill.paid && bill.amount > 0) {
      sum += bill.amount;
    }
  }
  return Math.round(sum);
}

interface Order { paid: boolean; amount: number }

const RETRY_LIMIT = 8; // flag: CoV shadowed-constant

export function again(retry: number, hook: Hook) {
  return hook && retry < 8; // flag: CoV shadowed-constant  // flag: CoM magic-number-cond
}

export const used = [limits, RETRY_LIMIT];

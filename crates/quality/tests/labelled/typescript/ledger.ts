export type Kind = "open" | "closed";

export interface Order {
  kind: Kind;
  priority: number;
  level: number;
}

export function store(order: any): void { // flag: CoT
  console.log(order);
}

export function read(text: string): unknown { // fine: CoT
  return JSON.parse(text);
}

export function first<T>(items: T[]): T | undefined { // fine: CoT
  return items[0]; // fine: CoP
}

export function asOrder(value: unknown): Order {
  return value as unknown as Order; // flag: CoT
}

export function isOpen(order: Order): boolean {
  return order.kind === "open"; // fine: CoM
}

export function isUrgent(order: Order): boolean {
  return order.level === 4; // flag: CoM coded-value
}

export function weight(order: Order): number {
  return order.priority * 7.5; // flag: CoM magic-number-arith
}

export function place(x: number, y: number, z: number): number { // fine: CoP
  return x + y + z;
}

export function box(left: number, top: number, width: number, height: number): number { // flag: CoP many-positional
  return left + top + width * height;
}

export function span(): [string, string, number] {
  return ["a", "b", 1984]; // flag: CoP positional-record
}

export function year(): number {
  return span()[2]; // flag: CoP
}

export class Door {
  private opened = false;

  open(): void {
    this.opened = true;
  }

  enter(): void {
    if (!this.opened) { // flag: CoE state-guard
      throw new Error("closed");
    }
  }

  knock(times: number): void {
    if (times < 1) { // fine: CoE
      throw new Error("knock");
    }
  }
}

import React, { useState } from "react";

type Handler = (a: string, b: string, c: string, d: string) => void; // fine: CoP
export interface Repo {
  find(id: string): Promise<string>;
  raw(value: any): void; // flag: CoT any-type
}
export type Bag = { [key: string]: unknown }; // fine: CoT
const DEFAULT_PAGE_SIZE = 35; // flag: CoV

export function Counter({ start }: { start: number }) {
  const [count, setCount] = useState(start); // fine: CoP
  return <button onClick={() => setCount(count + 1)}>{count}</button>; // fine: CoM
}

export function page(list: string[], pageSize = 35): string[] { // flag: CoV
  return list.slice(0, pageSize);
}

export function optional(a: string, b: string, c: string, d?: string): string { // fine: CoP
  return a + b + c + d;
}

export class Point {
  constructor(public x: number, public y: number, public z: number, public w: number) {} // flag: CoP many-positional
}

export class Wallet {
  static instances: Wallet[] = []; // flag: CoI
  private balance = 0;
  private ready?: boolean;

  static track(w: Wallet): void {
    Wallet.instances.push(w);
  }

  static count(): number {
    return Wallet.instances.length;
  }

  init(): void {
    this.ready = true;
  }

  pay(amount: number): void {
    if (!this.ready) throw new Error("init first"); // flag: CoE state-guard
    this.balance -= amount;
  }

  async top(fetch: () => Promise<number>): Promise<void> {
    this.balance += await fetch(); // flag: CoTm rmw-across-await
  }

  async topWell(fetch: () => Promise<number>): Promise<void> {
    const more = await fetch();
    this.balance += more; // fine: CoTm
  }
}

export async function save(id: number): Promise<void> {
  console.log(id);
}

export async function all(ids: number[]): Promise<void> {
  ids.forEach((id) => { save(id); }); // flag: CoTm floating-async
  await Promise.all(ids.map((id) => save(id))); // fine: CoTm
  try {
    await save(1); // fine: CoTm
  } finally {
    save(2); // flag: CoTm floating-async
  }
}

export function price(kind: number, total: number, level: string): number {
  if (kind === 3 || kind === 4) { // flag: CoM coded-value
    return 0;
  }
  if (level === "gold") { // fine: CoM
    return 1;
  }
  return total > 500 ? total * 0.95 : total; // flag: CoM
}

export function area(width: number): string {
  const ratio = 16 / 9; // fine: CoM
  return `${width / ratio}px`;
}

export const days = (ms: number): number => ms / (1000 * 60 * 60 * 24); // fine: CoM

export function bits(flags: number): boolean {
  return (flags & (1 << 3)) !== 0; // fine: CoM
}

export function cast(value: unknown): string {
  // @ts-ignore // flag: CoT
  const text: string = value;
  return text;
}

export function narrowed(value: unknown): string {
  return value as string; // fine: CoT
}

export function parts(): [string, number] {
  return ["a", 3]; // fine: CoP
}

export function usePair(): string {
  const [name] = parts(); // fine: CoP
  return name;
}

export function argv(): string {
  return process.argv[2]; // fine: CoP
}

export function fullName(user: string[]): string {
  return user[2] + user[3]; // flag: CoP positional-record
}

export function run(handler: Handler): void {
  handler("a", "b", "c", "d");
}

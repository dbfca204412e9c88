import { readFileSync, existsSync } from "fs";

export const LIMIT = 25; // fine: CoM
const DAY_MS = 24 * 60 * 60 * 1000; // fine: CoM
const sessions = new Map(); // flag: CoI module-mutable
const WEEKDAYS = ["mon", "tue"]; // fine: CoI
export let active = 0; // flag: CoI module-mutable
let current = null;

export function login(id, user) {
  sessions.set(id, user);
  current = user; // flag: CoI global-state
  active = active + 1;
}

export function find(id) {
  return sessions.get(id) ?? current ?? active;
}

export function weekday(at) {
  return WEEKDAYS[at];
}

export function weekdays() {
  return WEEKDAYS.length;
}

export function judge(order, e, response) {
  if (order.status === 3) { // flag: CoM coded-value
    return "done";
  }
  if ([1, 2].includes(order.state)) { // flag: CoM coded-value
    return "open";
  }
  switch (order.type) { // flag: CoM coded-value
    case 0:
      return "new";
    case 7:
      return "old";
    default:
      break;
  }
  if (typeof e === "number") { // fine: CoM
    return e;
  }
  if (e.kind === "open") { // flag: CoM magic-string-eq
    return e;
  }
  if (response.code === "ENOENT" || e[2] === ":") { // fine: CoM
    return null;
  }
  if (response.status === 404) { // fine: CoM
    return null;
  }
  if (e.items.length === 5) { // fine: CoM
    return null;
  }
  if (e.age > 65) { // flag: CoM magic-number-cond
    return null;
  }
  const delay = e.rows * 7; // flag: CoM magic-number-arith
  const seconds = delay / 1000 / 60; // fine: CoM
  return { PaymentStatus: 0, seconds, DAY_MS }; // flag: CoM coded-value
}

export function createUser(name, email, street, city) { // flag: CoP many-positional
  return { name, email, street, city };
}

export function createPet({ name, email, street, city }) { // fine: CoP
  return { name, email, street, city };
}

export function createCar(name, wheels = 4, doors = 4, seats = 5) { // fine: CoP
  return { name, wheels, doors, seats };
}

class Time {
  constructor(hour, minute, second) {
    this.hour = hour;
    this.minute = minute;
    this.second = second;
  }
}

export const lunch = () => new Time(12, 12, 12); // flag: CoP swappable-call
export const noon = (h, m, s) => new Time(h, m, s); // fine: CoP

function nameParts(user) {
  return [user.first, user.last, user.age]; // flag: CoP positional-record
}

export function greet(user) {
  const [first, last, age] = nameParts(user);
  return first + last + age;
}

export function row3(row) {
  return row[3]; // flag: CoP positional-record
}

export function useToggle(start) {
  return [start, () => {}, "idle"]; // fine: CoP
}

export function Toggle() {
  const [on, flip, mode] = useToggle(false); // fine: CoP
  return on && flip && mode;
}

export function paint(canvas) {
  canvas.draw("x", true, false); // flag: CoP bool-trap
}

export class Store {
  constructor() {
    this.ready = false;
    this.total = 0;
    this.rows = null;
  }

  open() {
    this.ready = true;
  }

  read() {
    if (!this.ready) { // flag: CoE state-guard
      throw new Error("open first");
    }
    return this.total;
  }

  load() {
    this.rows = fetchRows(); // flag: CoE field-handoff
  }

  show() {
    return this.rows.map(String);
  }

  async storeSale(id) {
    return id;
  }

  async sell(id, db) {
    this.storeSale(id); // flag: CoTm floating-async
    await this.storeSale(id); // fine: CoTm
    void this.storeSale(id); // fine: CoTm
    this.storeSale(id).catch(console.error); // fine: CoTm
    db.storeSale(id); // fine: CoTm
  }

  async add(amount) {
    const before = this.total;
    await this.storeSale(amount);
    this.total = before + amount; // flag: CoTm rmw-across-await
  }
}

function fetchRows() {
  return [];
}

export function page() {
  const store = new Store();
  store.load();
  return store;
}

export function page2(store) {
  store.load();
  store.show(); // flag: CoE field-handoff
}

export function mail(email) {
  email.send();
  email.setSubject("late"); // flag: CoE use-after-terminal
}

export function ship(res) {
  res.setHeader("a", "b"); // fine: CoE
  res.send();
}

export async function boot(server) {
  server.start();
  await new Promise((resolve) => setTimeout(resolve, 500)); // flag: CoTm sleep-sync
  await sleep(200); // flag: CoTm sleep-sync
  setTimeout(() => server.tick(), 100); // fine: CoTm
}

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms)); // fine: CoTm

export async function retry(fn) {
  await sleep(100); // fine: CoTm
  return fn();
}

export async function drain(queue) {
  while (queue.length > 0) {
    await sleep(100); // fine: CoTm
    queue.pop();
  }
}

export function config(path) {
  if (existsSync(path)) { // flag: CoTm toctou
    return readFileSync(path);
  }
  return null;
}

function area(shape) { // flag: CoN duplicate-definition
  return shape.width;
}

function area(shape) { // flag: CoN duplicate-definition
  return shape.width * shape.height;
}

export class Box {
  get size() { return area(this); } // fine: CoN
  set size(v) { this.v = v; } // fine: CoN
}

export function any(mail) { // fine: CoT
  return mail;
}

export function encode(text) { // flag: CoA near-clone
  let out = "";
  for (const letter of text) {
    out += String.fromCharCode(letter.charCodeAt(0) + 3); // flag: CoM magic-number-arith
  }
  return out;
}

export function decode(text) { // flag: CoA near-clone
  let out = "";
  for (const letter of text) {
    out += String.fromCharCode(letter.charCodeAt(0) - 3); // flag: CoM magic-number-arith
  }
  return out;
}

export function heatPumpPrice() {
  return 10.5; // flag: CoV same-name-same-literal
}

export function quote(offer) {
  const heatPump_price = 10.5; // flag: CoV same-name-same-literal
  return offer.rate * heatPump_price;
}

import fs from "node:fs";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const API_KEY_HEADER = "x-api-key"; // fine: CoM
let cached;

export class Cart {
  #total = 0;
  #paid = false;
  items = [];

  pay() {
    this.#paid = true;
  }

  ship() {
    if (!this.#paid) { // flag: CoE state-guard
      throw new Error("pay first");
    }
  }

  async refresh(load) {
    const total = this.#total;
    const more = await load();
    this.#total = total + more; // flag: CoTm rmw-across-await
  }

  add(item) {
    this.items.push(item); // fine: CoI
  }
}

export function loadOnce() {
  if (!cached) { // fine: CoE
    cached = fs.readFileSync("x"); // fine: CoI
  }
  return cached;
}

export function classify(user, err) {
  if (user.role === 1) return "admin"; // flag: CoM coded-value
  if (user.level >= 7) return "senior"; // flag: CoM
  if (err.code === "EACCES") return "denied"; // fine: CoM
  if (Array.isArray(user) && user.length === 2) return "pair"; // fine: CoM
  const discount = user.isVip ? 0.15 : 0; // fine: CoM
  return user.total * (1 - discount);
}

export const isWeekend = (day) => day === 6; // flag: CoM magic-number-cond
export const percent = (a, b) => (a / b) * 100; // fine: CoM

export function httpOk(res) {
  return res.status >= 200 && res.status < 300; // fine: CoM
}

export default class Mailer {
  constructor(host, port, user, password) { // flag: CoP many-positional
    this.host = host;
    this.port = port;
    this.user = user;
    this.password = password;
  }
}

export function withCallback(path, options, encoding, callback) { // flag: CoP many-positional
  callback(path, options, encoding);
}

export async function job(id) {
  return id;
}

export async function runAll(ids) {
  for (const id of ids) {
    job(id); // flag: CoTm floating-async
  }
  return Promise.all(ids.map(job)); // fine: CoTm
}

export function runLater(id) {
  job(id).catch(() => {}); // fine: CoTm
  return job(id); // fine: CoTm
}

export async function settle(page) {
  await page.click("#go");
  await sleep(1000); // flag: CoTm sleep-sync
}

export function end(conn) {
  conn.query("select 1"); // fine: CoE
  conn.release();
  conn.query("select 2"); // flag: CoE use-after-terminal
}

export function again(conn) {
  conn.end();
  conn = connect();
  conn.query("select 2"); // fine: CoE
}

export function branch(conn, done) {
  if (done) {
    conn.end();
    return;
  }
  conn.query("select"); // fine: CoE
}

function connect() {
  return null;
}

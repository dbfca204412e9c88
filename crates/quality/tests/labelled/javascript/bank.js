const registry = {}; // flag: CoI module-mutable
let counter = 0;
const queue = []; // flag: CoI module-mutable
const ROUTES = Object.freeze({ home: "/", about: "/about" }); // fine: CoI

function register(name, value) {
  registry[name] = value;
  counter++; // flag: CoI global-state
}

function lookup(name) {
  return registry[name] || counter;
}

function push(job) {
  queue.push(job);
}

function take() {
  return queue.shift();
}

function route(name) {
  return ROUTES[name];
}

class Email {
  constructor() {
    this.sender = null;
    this.sent = false;
  }
  setSender(s) {
    this.sender = s;
  }
  send() {
    if (!this.sender) { // flag: CoE state-guard
      throw new Error("no sender");
    }
    this.sent = true;
  }
}

function deliver() {
  const email = new Email();
  email.setSender("a@b.c"); // flag: CoE field-handoff
  email.send();
  email.setSubject("x"); // flag: CoE use-after-terminal
}

function charge(order) {
  if (order.status == 2) { // flag: CoM coded-value
    return true;
  }
  if (order.total > 250) { // flag: CoM magic-number-cond
    return false;
  }
  if (order.currency === "EUR") { // flag: CoM magic-string-eq
    return order.total * 0.93; // flag: CoM magic-number-arith
  }
  if (order.items.length > 3) { // fine: CoM
    return order.total * 100; // fine: CoM
  }
  return order.id === -1; // fine: CoM
}

const price = (net, { vat = 19 } = {}) => net * vat; // fine: CoM

function make(name, email, phone, city, zip) { // flag: CoP many-positional
  return { name, email, phone, city, zip };
}

function options(name, ...rest) { // fine: CoP
  return [name, rest];
}

function coords() {
  return [48.1, 11.5, 520]; // flag: CoP positional-record
}

function height() {
  const c = coords();
  return c[2]; // flag: CoP
}

async function saveSale(id) {
  return id;
}

async function sell(id, api) {
  saveSale(id); // flag: CoTm floating-async
  await saveSale(id); // fine: CoTm
  const p = saveSale(id); // fine: CoTm
  api.saveSale(id); // fine: CoTm
  return p;
}

async function warmUp(server) {
  server.listen();
  await sleep(2000); // flag: CoTm sleep-sync
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms)); // fine: CoTm

async function backoff(fn) {
  await sleep(500); // fine: CoTm
  return fn();
}

function caesar(text) { // fine: CoA
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    out += String.fromCharCode(code + 2);
  }
  return out;
}

function uncaesar(text) { // fine: CoA
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    out += String.fromCharCode(code - 2);
  }
  return out;
}

function getName(u) { return u.name; } // fine: CoA
function getTitle(u) { return u.title; } // fine: CoA

function render(a) { // flag: CoN duplicate-definition
  return a;
}

function render(b) { // flag: CoN duplicate-definition
  return b + 1;
}

function wire(el) {
  el.draw(true, false); // flag: CoP bool-trap
  setTimeout(() => el.hide(), 300); // fine: CoTm
}

const MAX_UPLOAD = 5242880; // flag: CoV

function check(size) {
  const maxUpload = 5242880; // flag: CoV
  return size < maxUpload;
}
module.exports = { lookup, register, push, take, route, deliver, charge, price, make, options, height, sell, warmUp, backoff, caesar, uncaesar, getName, getTitle, render, wire, check };

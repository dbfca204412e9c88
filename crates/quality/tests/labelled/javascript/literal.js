// Objects that are written out, with methods of their own.
const till = {
  isOpen: false,
  drawer: null,
  open() {
    this.isOpen = true;
  },
  sell(item) {
    if (!this.isOpen) { // flag: CoE state-guard
      throw new Error("open the till first");
    }
    this.record(item); // flag: CoTm floating-async
    return item;
  },
  async record(item) {
    await this.drawer.put(item);
  },
  async close() {
    await this.record(null); // fine: CoTm
    drawer.record(null); // fine: CoTm
  },
  later: () => {
    this.record(null); // fine: CoTm
  },
  print: async function (line) {
    return line;
  },
  report: function () {
    this.print("done"); // flag: CoTm floating-async
  },
};

function isGrown(person) { // flag: CoA clone
  if (!person) return false;
  return person.age > LIMIT && person.active;
}

function mayVote(citizen) { // flag: CoA clone
  if (!citizen) return false;
  return citizen.age > LIMIT && citizen.active;
}

function onError(err, req, res, next) { // fine: CoP
  next(err);
}

function render(page, err, req, res, next) { // fine: CoP
  return page;
}

function draw(page, title, text, note, req, res) { // flag: CoP many-positional
  return page;
}

function finish(response) {
  response.end();
  response.write("one more"); // flag: CoE use-after-terminal
}

function finishRace(race) {
  race.end();
  race.add("a late one"); // fine: CoE
}

const roleNames = { 0: "guest", 1: "member", 2: "owner" }; // flag: CoM coded-value
const ROLE_NAMES = { 0: "guest", 1: "member", 2: "owner" }; // fine: CoM
const codes = { 404: "not found", 500: "broken" }; // fine: CoM
const sizes = { 7: "small", 9: "large" }; // fine: CoM

export { till, isGrown, mayVote, onError, render, draw, finish, finishRace, roleNames, ROLE_NAMES, codes, sizes };

const listeners = [];  // flag: CoI module-mutable

function listen(callback) {
  listeners.push(callback);
}

function emit(event) {
  listeners.forEach((listener) => listener(event));
}

function isAdmin(user) {
  return user.role === 7;  // flag: CoM coded-value
}

function tax(amount) {
  return amount * 0.19;  // flag: CoM magic-number-arith
}

function seconds(minutes) {
  return minutes * 60;  // fine: CoM
}

function move(from, to, board, piece) {  // flag: CoP many-positional
  return board.put(piece, from, to);
}

function half(value) {
  return value / 2;  // fine: CoM
}

const RATE = 0.25;  // fine: CoM

function discount(amount) {
  return amount * RATE;  // fine: CoM
}

module.exports = { listen, emit, isAdmin, tax, seconds, move, half, discount };

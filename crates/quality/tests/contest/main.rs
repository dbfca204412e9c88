//! Best of N, judged from the outside: what runners say, who cheats, who wins.
mod cheats;
mod judging;
mod results;

//! Roles: what agents may do by what they are for, and by what each was granted or denied.
//!
//! Owns: the table of roles, the judgement of a call against them, and reading agents from files others wrote. Refuses:
//! identity: who the agent is comes in as a fact.

mod front_matter;
mod import;
mod rights;
mod suggest;
mod table;
#[cfg(test)]
mod tests;
mod wanted;

pub use import::{Draft, ImportError, is_key, read};
pub use rights::Rights;
pub use suggest::{Suggestion, suggest};
pub use table::{DEFAULT, ROLES, RolePolicy, policy};
pub use wanted::{Wanted, operation};

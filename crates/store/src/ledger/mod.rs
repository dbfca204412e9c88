//! What makes the ledger a ledger, whichever database holds it: encoding, chain, key.

pub(crate) mod chain;
pub(crate) mod columns;
pub(crate) mod key;

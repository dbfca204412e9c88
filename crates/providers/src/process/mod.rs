//! The `process` provider.

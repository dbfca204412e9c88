//! Templates: turning what a user has into a root directory that a sandbox can use as its read-only lower layer.
//!
//! Owns: telling a root filesystem, an OCI image layout and a `docker save` archive apart by what they contain;
//! checking every blob against its digest; unpacking without ever writing outside the new root; and the store that
//! keeps the result, so that the second use costs nothing.
//! Refuses: the network (an image comes from disk or not at all), device nodes, setuid bits, extended attributes,
//! and deciding whether a sandbox still uses a template: whoever removes one has to know that.

mod archive;
mod digest;
mod docker;
mod error;
mod image;
mod oci;
mod progress;
mod remove;
mod source;
mod store;
mod stream;
mod unpack;

#[cfg(test)]
mod tests;

pub use error::{TemplateError, UnpackError};
pub use image::Template;
pub use progress::Progress;
pub use store::{Listed, TemplateStore};
pub use unpack::Limits;

//! Why a template could not be had. Owns the two error families; the chain of sources is printed at the edge.

use std::{io, path::PathBuf};

/// Why a source did not become a template, or a name did not lead to one.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The source could not be opened or read.
    #[error("could not read the template source `{}`", path.display())]
    Source {
        /// What was being read.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The source is none of the things we know.
    #[error("`{}` is neither a root filesystem, an OCI layout nor a docker save archive: {why}", path.display())]
    Unrecognised {
        /// What was looked at.
        path: PathBuf,
        /// What was missing.
        why: String,
    },
    /// The source file was written to while it was being read.
    #[error("`{}` changed while it was being imported; try again once it is complete", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The image refers to a blob that is not there.
    #[error("the image has no `{blob}`; it is incomplete, so save or copy it again")]
    BlobMissing {
        /// The file inside the image.
        blob: String,
    },
    /// A blob could not be read.
    #[error("could not read `{blob}` of the image")]
    Blob {
        /// The file inside the image.
        blob: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A blob is not what its digest promises.
    #[error("`{blob}` is damaged: its contents have the digest sha256:{found}; save or copy the image again")]
    DigestMismatch {
        /// The blob, named by the digest it should have.
        blob: String,
        /// What its contents hash to.
        found: String,
    },
    /// A digest in a form we do not check.
    #[error("`{0}` is not a digest we can check; sha256 is needed")]
    Digest(String),
    /// A JSON document of the image or of the store does not have the expected form.
    #[error("could not understand `{document}`")]
    Document {
        /// The document.
        document: String,
        /// Where it went wrong.
        #[source]
        source: serde_json::Error,
    },
    /// A JSON document or the number of files of an image is beyond any sensible size.
    #[error("`{what}` is larger than the {limit} that an image may have there")]
    Oversized {
        /// What is too large.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// A layer in a format we do not unpack.
    #[error("layer `{blob}` has the media type `{media_type}`; tar, tar+gzip and tar+zstd can be unpacked")]
    MediaType {
        /// The layer.
        blob: String,
        /// What it says it is.
        media_type: String,
    },
    /// No image for this machine.
    #[error("the image is for {found}, this machine is {wanted}; save it with --platform linux/{wanted}")]
    Architecture {
        /// What we need, in the words of OCI.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// More than one image, and no way to tell which is meant.
    #[error("the archive holds several images ({0}); save just one")]
    Ambiguous(String),
    /// The image contradicts itself.
    #[error("the image is inconsistent: {0}; save or copy it again")]
    Inconsistent(String),
    /// A layer or a tar did not unpack.
    #[error("could not unpack `{what}`")]
    Unpack {
        /// The layer or file.
        what: String,
        /// Why not.
        #[source]
        source: UnpackError,
    },
    /// A name that no template can have.
    #[error(
        "`{0}` cannot name a template; use letters, digits and `._:-`, not starting with a dot or a dash, and not `host`"
    )]
    Name(String),
    /// No template has this name.
    #[error("no template is named `{0}`; import one under that name first")]
    Unknown(String),
    /// A named template whose root is no longer there.
    #[error("the root of template `{name}`, `{}`, is gone; import it again or remove the name", root.display())]
    Gone {
        /// The name.
        name: String,
        /// Where the root was.
        root: PathBuf,
    },
    /// The store itself could not be used.
    #[error("could not {action} `{}` in the template store", path.display())]
    Store {
        /// What we were doing, as a verb.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

/// Why an archive did not unpack.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// A name that means something outside the root, or nothing at all.
    #[error("the entry `{name}` is refused: {why}")]
    UnsafeName {
        /// The name as in the archive.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The archive itself could not be read.
    #[error("the archive is damaged or truncated")]
    Read(#[source] io::Error),
    /// An entry promises more contents than the archive has.
    #[error("the archive ends in the middle of `{0}`")]
    Truncated(String),
    /// An entry could not be made.
    #[error("could not {action} `{path}`")]
    Entry {
        /// What we were doing, as a verb.
        action: &'static str,
        /// The entry.
        path: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Beyond the bound on bytes.
    #[error("it unpacks to more than {0} bytes; raise the limit if that is expected")]
    TooManyBytes(u64),
    /// Beyond the bound on entries.
    #[error("it holds more than {0} entries; raise the limit if that is expected")]
    TooManyEntries(u64),
    /// A kind of sparse file that would unpack as garbage.
    #[error("`{0}` is a sparse file in pax form; make the archive with `tar --format=gnu`")]
    PaxSparse(String),
}

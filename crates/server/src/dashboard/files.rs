//! The files of the dashboard, as the build script left them.

/// One file.
#[derive(Debug)]
pub(super) struct File {
    /// Its path, from the root.
    pub(super) path: &'static str,
    pub(super) media_type: &'static str,
    /// Its name has a hash of what is in it.
    pub(super) immutable: bool,
    pub(super) body: Body,
}

/// What is in a file.
#[derive(Debug)]
#[cfg_attr(no_dashboard, expect(dead_code, reason = "this build has no files"))]
pub(super) enum Body {
    /// What is compressed already, such as a font.
    Plain(&'static [u8]),
    /// A text, compressed twice.
    Packed { br: &'static [u8], gz: &'static [u8] },
}

include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));

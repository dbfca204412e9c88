//! Parameters of commands.

use serde::Deserialize;
use utoipa::IntoParams;

/// What to add to a command's input.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StdinQuery {
    /// Ends the input after these bytes.
    pub close: bool,
}

/// How long to wait.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// Seconds; the answer then says `running`.
    #[param(minimum = 0, maximum = 3600, default = 60)]
    pub timeout_seconds: Option<u32>,
}

/// Which output.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OutputQuery {
    /// After this place; from the beginning when absent.
    #[param(minimum = 0, maximum = 9_223_372_036_854_775_807_u64)]
    pub after: Option<u64>,
    /// The most bytes wanted.
    #[param(minimum = 1, maximum = 4_194_304, default = 1_048_576)]
    pub max_bytes: Option<usize>,
}

/// A shell on a terminal.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TerminalQuery {
    /// Width.
    #[param(minimum = 1, maximum = 1000, default = 80)]
    pub cols: Option<u16>,
    /// Height.
    #[param(minimum = 1, maximum = 1000, default = 24)]
    pub rows: Option<u16>,
    /// A line for `sh -c`; an interactive shell when absent.
    pub command: Option<String>,
    /// Where.
    #[param(max_length = 4096)]
    pub cwd: Option<String>,
}

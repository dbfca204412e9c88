//! `belljar bench run`: what one sees at the prompt.

use anyhow::{Context as _, Result};

use super::{ground::Ground, report::Report, series::Series};

/// First runs fill caches: the blank disk, the program's own pages.
const WARM_UP: u32 = 2;

pub(crate) fn measure(ground: &Ground, count: u32) -> Result<Report> {
    let workspace = ground.workspace().to_str().context("the workspace's name is not valid UTF-8")?;
    let once = || ground.belljar(&["run", "--quiet", "--workspace", workspace, "--", "true"]);
    for _ in 0..WARM_UP {
        once()?;
    }
    let mut runs = Series::new("belljar run -- true");
    for _ in 0..count {
        if !ground.goes_on() {
            break;
        }
        runs.time(once);
    }
    Ok(Report::new("run", vec![runs]))
}

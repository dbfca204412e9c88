//! `belljar bench create`: making and removing a sandbox, and whether that slows down as others run.

use anyhow::Result;

use super::{
    ground::{Ground, Herd, execute},
    report::Report,
    series::Series,
};

pub(crate) fn measure(ground: &Ground, count: u32, live: &[u32]) -> Result<Report> {
    let mut steps = live.to_vec();
    steps.sort_unstable();
    steps.dedup();
    let mut herd = Herd::default();
    let mut all = Vec::new();
    warm_up(ground)?;
    for others in steps {
        grow(ground, &mut herd, others)?;
        let mut made = Series::new(format!("create, {others} others running"));
        let mut removed = Series::new(format!("destroy, {others} others running"));
        for _ in 0..count {
            if !ground.goes_on() {
                break;
            }
            if let Some(sandbox) = made.time(|| ground.create(&ground.spec)) {
                removed.time(|| Ok(sandbox.destroy()?));
            }
        }
        all.extend([made, removed]);
    }
    Ok(Report::new("create", all))
}

/// The first sandbox fills caches, and shows at once whether any can be made.
fn warm_up(ground: &Ground) -> Result<()> {
    let sandbox = ground.create(&ground.spec)?;
    let tried = execute(&*sandbox, &["true"]);
    sandbox.destroy()?;
    tried
}

fn grow(ground: &Ground, herd: &mut Herd, to: u32) -> Result<()> {
    let to = usize::try_from(to).unwrap_or(usize::MAX);
    while herd.len() < to && ground.goes_on() {
        herd.add(ground.create(&ground.spec)?);
    }
    Ok(())
}

//! `belljar bench exec`: a further command in a sandbox that is running, by both ways there are.

use anyhow::Result;

use super::{
    ground::{Ground, Herd, execute},
    report::Report,
    series::Series,
};

pub(crate) fn measure(ground: &Ground, count: u32) -> Result<Report> {
    let mut herd = Herd::default();
    let sandbox = ground.create(&ground.spec)?;
    let id = sandbox.info().id.to_string();
    // The first conversation is open from the start; what is measured is every later one.
    execute(&*sandbox, &["true"])?;
    herd.add(sandbox);

    let mut inside = Series::new("true, from one process");
    let mut whole = Series::new("belljar exec -- true");
    // Alternating, so that a busy moment of the machine falls on both.
    for _ in 0..count {
        let Some(sandbox) = herd.last().filter(|_| ground.goes_on()) else { break };
        inside.time(|| execute(sandbox, &["true"]));
        whole.time(|| ground.belljar(&["exec", &id, "--", "true"]));
    }
    Ok(Report::new("exec", vec![inside, whole]))
}

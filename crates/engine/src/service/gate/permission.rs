//! The second stage: what the policy says.
//!
//! Owns: what it means that no rule speaks: on the host the agent's own rules decide, in a sandbox its walls do.

use belljar_guardian::policy::{Call, Policy, Reach, Scene, Walls};

use super::{Finding, Place, Request};

/// A request as a policy looks at it.
pub(super) fn scene(request: &Request) -> (Call<'_>, Scene) {
    let (act, place) = (&request.act, &request.place);
    let call = Call { tool: &act.tool, input: &act.input, cwd: place.cwd(), home: place.home() };
    let scene = Scene::on_host(place.cwd(), place.home(), None);
    let scene = match place {
        Place::Host { .. } => scene,
        // How far its network reaches is not known here, so nothing is taken for held in by it.
        Place::Sandbox { .. } => scene.behind(Walls { network: Reach::Anywhere }),
    };
    (call, Scene { agent: request.who.agent.clone(), ..scene })
}

/// What a policy says of a request.
pub(super) fn stage(policy: &Policy, request: &Request) -> Finding {
    let (call, scene) = scene(request);
    match (policy.judge(&call, &scene), &request.place) {
        (Some(ruling), _) => ruling.into(),
        (None, Place::Host { .. }) => Finding::allow("no rule speaks of it; the agent's own rules decide"),
        (None, Place::Sandbox { isolation, .. }) => {
            let walls = isolation.map_or_else(|| "isolation".to_owned(), |level| level.to_string());
            Finding::allow(format!(
                "no rule speaks of it, and it is contained: the sandbox's {walls} carry it"
            ))
        }
    }
}

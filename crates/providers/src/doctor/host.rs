//! Settings of the host and its surroundings that decide what an ordinary user may do.

use belljar_jail::{Remedy, Signs, Stage};

use super::check::{Check, Status, Weight};

const AREA: &str = "host";
const EPERM: i32 = 1;
const ENOSPC: i32 = 28;

/// `works` says whether a user namespace could really be made: what was tried outweighs what a setting suggests.
pub(super) fn checks(signs: &Signs, works: bool) -> Vec<Check> {
    let all = vec![
        apparmor(signs),
        userns_clone(signs),
        limit(signs, "max-user-namespaces", signs.max_user),
        limit(signs, "max-net-namespaces", signs.max_net),
        container(signs),
    ];
    all.into_iter().map(|check| if works { spare(check) } else { check }).collect()
}

fn spare(check: Check) -> Check {
    match check.status {
        Status::Missing => {
            Check::ok(check.area, check.name, check.weight, format!("{}; it works here", check.found))
        }
        Status::Ok | Status::Degraded => check,
    }
}

fn apparmor(signs: &Signs) -> Check {
    let name = "apparmor-userns";
    let label = signs.apparmor_label.as_deref().unwrap_or("no label");
    let found = match signs.apparmor_restricts {
        None => "this kernel has no such restriction".to_owned(),
        Some(false) => "kernel.apparmor_restrict_unprivileged_userns is 0".to_owned(),
        Some(true) if signs.root => {
            "kernel.apparmor_restrict_unprivileged_userns is 1; root is exempt".to_owned()
        }
        Some(true) => format!("kernel.apparmor_restrict_unprivileged_userns is 1; belljar runs as `{label}`"),
    };
    if signs.apparmor_blocks() {
        return Check::failed(AREA, name, Weight::Needed, Status::Missing, found).with(Remedy::of(
            Stage::UserNamespace,
            EPERM,
            signs,
        ));
    }
    Check::ok(AREA, name, Weight::Needed, found)
}

fn userns_clone(signs: &Signs) -> Check {
    let name = "unprivileged-userns-clone";
    match signs.userns_clone {
        None => Check::ok(AREA, name, Weight::Needed, "this kernel has no such switch: allowed"),
        Some(true) => Check::ok(AREA, name, Weight::Needed, "kernel.unprivileged_userns_clone is 1"),
        Some(false) if signs.root => {
            Check::ok(AREA, name, Weight::Needed, "kernel.unprivileged_userns_clone is 0; root is exempt")
        }
        Some(false) => {
            let found = "kernel.unprivileged_userns_clone is 0: ordinary users may not";
            Check::failed(AREA, name, Weight::Needed, Status::Missing, found).with(Remedy::of(
                Stage::UserNamespace,
                EPERM,
                signs,
            ))
        }
    }
}

fn limit(signs: &Signs, name: &'static str, limit: Option<u64>) -> Check {
    let setting = format!("user.{}", name.replace('-', "_"));
    match limit {
        None => Check::ok(AREA, name, Weight::Needed, format!("{setting} cannot be read here")),
        Some(0) => Check::failed(AREA, name, Weight::Needed, Status::Missing, format!("{setting} is 0"))
            .with(Remedy::of(Stage::UserNamespace, ENOSPC, signs)),
        // Each sandbox takes one of each.
        Some(few @ 1..64) => Check::failed(
            AREA,
            name,
            Weight::Wanted,
            Status::Degraded,
            format!("{setting} is {few}: few sandboxes"),
        )
        .with(Remedy::run("raise it", [format!("sudo sysctl -w {setting}=15000")])),
        Some(enough) => Check::ok(AREA, name, Weight::Needed, format!("{setting} is {enough}")),
    }
}

fn container(signs: &Signs) -> Check {
    let name = "container";
    match (signs.container, signs.nested) {
        (None, false) => Check::ok(AREA, name, Weight::Wanted, "not inside one"),
        (Some(kind), _) => {
            let found =
                format!("inside {kind}: its policy is the outer wall, and its limits cap every sandbox's");
            Check::ok(AREA, name, Weight::Wanted, found)
        }
        (None, true) => {
            let found = "inside a user namespace: ids, mounts and groups beyond it are out of reach";
            let advice = "run belljar outside of it to get every limit and a range of ids for each sandbox";
            Check::failed(AREA, name, Weight::Wanted, Status::Degraded, found).with(Remedy::say(advice))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_forbid_come_with_the_command_that_allows() {
        let signs = Signs { userns_clone: Some(false), max_user: Some(0), ..Signs::default() };
        for (check, command) in [
            (userns_clone(&signs), "kernel.unprivileged_userns_clone=1"),
            (limit(&signs, "max-user-namespaces", signs.max_user), "user.max_user_namespaces=15000"),
        ] {
            assert_eq!(check.status, Status::Missing);
            assert!(check.remedy.unwrap().to_string().contains(command));
        }
    }

    #[test]
    fn root_is_not_bothered_with_what_binds_others() {
        let signs = Signs {
            root: true,
            userns_clone: Some(false),
            apparmor_restricts: Some(true),
            ..Signs::default()
        };
        assert_eq!(userns_clone(&signs).status, Status::Ok);
        assert_eq!(apparmor(&signs).status, Status::Ok);
    }
}

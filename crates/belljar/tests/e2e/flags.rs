//! What a sandbox is given and what it is not: environment, directory, workspace, profile.

use crate::support::{Ended, Glass, promises};

promises! { [root, user]:
    variables_are_set_taken_over_or_absent,
    secrets_of_the_shell_stay_outside,
    commands_start_in_the_workspace_or_where_told,
    a_sandbox_can_do_without_a_workspace,
    a_home_or_the_root_is_no_workspace,
    the_home_is_private_and_empty,
    the_root_is_read_only_unless_asked,
    quiet_says_nothing_of_its_own,
    a_home_can_be_named_by_flag,
}

fn variables_are_set_taken_over_or_absent(glass: &Glass) {
    let script = "echo \"$A|$B|$C|${D-unset}\"";
    let mut run = glass.belljar(&["run", "-e", "A=1=2", "--env", "B", "-e", "C=", "--", "sh", "-c", script]);
    assert_eq!(Ended::of(run.env("B", "from shell").env("D", "kept out")).ok(), "1=2|from shell||unset\n");
}

fn secrets_of_the_shell_stay_outside(glass: &Glass) {
    let mut run = glass.belljar(&["run", "--", "env"]);
    for name in
        ["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN", "LD_PRELOAD_X"]
    {
        run.env(name, "s3cret");
    }
    let env = Ended::of(&mut run).ok();
    assert!(!env.contains("s3cret"), "{env}");
    assert!(env.contains("BELLJAR_SANDBOX=sbx_") && env.contains("IS_SANDBOX=1"), "{env}");
    assert!(!env.contains("BELLJAR_HOME"), "{env}");
}

fn commands_start_in_the_workspace_or_where_told(glass: &Glass) {
    assert_eq!(glass.run(&["run", "--", "pwd"]).ok(), format!("{}\n", glass.work().display()));
    assert_eq!(glass.run(&["run", "--workdir", "/usr", "--", "pwd"]).ok(), "/usr\n");
    let lent = glass.lent();
    let elsewhere = glass.run(&["run", "--workspace", lent.to_str().unwrap(), "--", "pwd"]).ok();
    assert_eq!(elsewhere, format!("{}\n", lent.display()));
}

fn a_sandbox_can_do_without_a_workspace(glass: &Glass) {
    glass.write("f", "x\n");
    let look = format!("pwd; ls {} 2>&1 | grep -c 'No such'; echo y > f", glass.work().display());
    let out = glass.sh(&["--workspace", "none"], &look).ok();
    assert_eq!(out, format!("{}\n1\n", glass.user_home().display()));
    assert_eq!(glass.read("f"), "x\n");
}

fn a_home_or_the_root_is_no_workspace(glass: &Glass) {
    let home = glass.user_home();
    for refused in
        ["/", "/etc", "/usr/share", home.to_str().unwrap(), home.parent().unwrap().to_str().unwrap()]
    {
        glass.run(&["run", "-C", refused, "--", "true"]).code(125).says("cannot be a workspace");
    }
    let mut at_home = glass.belljar(&["run", "--", "true"]);
    Ended::of(at_home.current_dir(&home)).code(125).says("--workspace none");
}

fn the_home_is_private_and_empty(glass: &Glass) {
    let secret = glass.user_home().join(".netrc");
    std::fs::write(&secret, "password").unwrap();
    assert_eq!(glass.sh(&[], "ls -A ~; echo x > ~/.netrc; cat ~/.netrc").ok(), "x\n");
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "password");
}

fn the_root_is_read_only_unless_asked(glass: &Glass) {
    let try_it = "echo x > /usr/lib/e2e-was-here && cat /usr/lib/e2e-was-here";
    let strict = glass.sh(&[], try_it);
    assert!(strict.code != Some(0) && strict.out.is_empty(), "{strict:?}");
    if glass.caller.uid() == 0 {
        assert_eq!(glass.sh(&["--profile", "permissive"], try_it).ok(), "x\n");
    }
    assert!(!std::path::Path::new("/usr/lib/e2e-was-here").exists());
}

fn quiet_says_nothing_of_its_own(glass: &Glass) {
    let ended = glass.sh(&["--quiet", "--timeout", "200ms"], "sleep 1000").code(124);
    assert_eq!(ended.err, "");
}

fn a_home_can_be_named_by_flag(glass: &Glass) {
    let other = glass.user_home().join("elsewhere");
    let home = other.to_str().unwrap();
    glass.run(&["--home", home, "run", "--", "sh", "-c", "echo hi > f"]).ok();
    assert!(glass.run(&["--home", home, "diff"]).ok().contains("+hi"));
    glass.run(&["diff"]).code(125);
    glass.run(&["--home", home, "discard"]).ok();
}

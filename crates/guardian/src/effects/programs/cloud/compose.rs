//! `docker compose`: the project's own containers.

use super::super::call::Call;
use super::super::options::Options;
use super::{changes, containers, destroys, is_rehearsal, mounts, or_harmless};
use crate::effects::act::Act;
use crate::effects::invocation::{Next, Outcome};
use crate::shell::value::Value;

const GLOBAL: Options = Options::new(
    "f:p:",
    "file= project-name= profile= env-file= project-directory= ansi= progress= parallel= compatibility dry-run",
);
const INSIDE: Options = Options::new(
    "e:u:w:l:p:v:",
    "env= user= workdir= label= name= publish= volume= entrypoint= index= env-from-file= pull= cap-add= cap-drop= \
     privileged? detach interactive no-tty no-deps rm service-ports use-aliases build quiet",
);

/// `docker compose` without its first word.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&GLOBAL.stops());
    let Some((verb, rest)) = read.operands.split_first() else { return Outcome::harmless() };
    let inner = Call { args: rest, ..*call };
    let verb = verb.text().unwrap_or_default();
    let said =
        format!("compose {verb} {}", rest.iter().filter_map(Value::text).collect::<Vec<_>>().join(" "));
    let outcome = match verb {
        "down" => {
            let read = inner.read(&Options::new("t:v", "rmi= timeout= volumes remove-orphans"));
            let loses =
                read.has("v volumes") || read.value("rmi").is_some_and(|which| which.text() == Some("all"));
            Outcome::of([if loses { destroys(said) } else { changes(said) }])
        }
        "rm" => {
            let loses = inner.read(&Options::new("", "force stop volumes")).has("v volumes f force");
            Outcome::of([if loses { destroys(said) } else { changes(said) }])
        }
        "run" | "exec" => {
            let read = inner.read(&INSIDE.stops());
            let mut outcome = Outcome::default();
            mounts::given(&inner, &read, &mut outcome);
            let Some((service, command)) = read.operands.split_first() else { return or_harmless(outcome) };
            if command.is_empty() {
                return or_harmless(outcome);
            }
            if containers::wipes(command) {
                outcome.push(destroys(said));
            }
            let mut next = call.elsewhere(command.to_vec(), service.text().unwrap_or("a service"));
            if let Next::Program { invocation, .. } = &mut next {
                invocation.cwd = Value::known("/");
            }
            outcome.then(next)
        }
        "up" | "create" | "start" if read.values("f file").any(|file| file.text() == Some("-")) => {
            let mut outcome = Outcome::default();
            declared(call, &mut outcome);
            or_harmless(outcome)
        }
        "publish" => Outcome::of([changes(said)]),
        "cp" => Outcome::harmless(),
        _ => Outcome::harmless(),
    };
    outcome.rehearsed_if(read.has("dry-run") || is_rehearsal(&inner))
}

/// What the services of a file on the standard input are given of this machine, line by line.
fn declared(call: &Call<'_>, outcome: &mut Outcome) {
    let text = call.invocation.input.text.as_ref().and_then(Value::text).unwrap_or_default();
    for line in text.lines().map(str::trim) {
        let plain: String = line.chars().filter(|letter| !matches!(letter, '"' | '\'')).collect();
        match plain.as_str() {
            "privileged: true" => outcome.push(Act::Privilege { how: "a privileged container".to_owned() }),
            "pid: host" => {
                outcome.push(Act::Privilege { how: "this machine's processes in a container".to_owned() });
            }
            "- SYS_ADMIN" | "- ALL" | "- SYS_PTRACE" | "- SYS_MODULE" => {
                outcome.push(Act::Privilege {
                    how: format!("the capability {} in a container", plain.trim_start_matches("- ")),
                });
            }
            other => {
                if let Some(mount) =
                    other.strip_prefix("- ").and_then(|volume| mounts::volume_of(call, &Value::known(volume)))
                {
                    mounts::shared(call, &mount, outcome);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn volumes_are_what_is_lost() {
        check(&[
            ("docker compose down", "infra compose down "),
            ("docker compose down -v", "infra! compose down -v"),
            ("docker-compose -f x.yml down --volumes", "infra! compose down --volumes"),
            ("docker compose up -d db", "compute"),
            ("docker compose exec db psql -c x", "> @db psql -c x"),
            ("docker compose run --rm web pytest", "> @web pytest"),
        ]);
    }
}

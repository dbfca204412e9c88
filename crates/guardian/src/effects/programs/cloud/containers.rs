//! `docker` and its kin: what runs inside is elsewhere, what it is given of this machine is not.

use super::super::call::Call;
use super::super::options::{Options, Read};
use super::{changes, destroys, is_rehearsal, mounts, or_harmless};
use crate::effects::act::{Act, Change, Datum, Traffic};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

const GLOBAL: Options = Options::new(
    "H:c:l:",
    "host= context= config= log-level= tlscacert= tlscert= tlskey= connection= url= root= runroot= namespace= address= \
     debug tls tlsverify remote",
);
/// Options of `run`, `create` and `exec`.
const RUN: Options = Options::new(
    "a:c:e:h:l:m:p:u:v:w:",
    "add-host= annotation= attach= blkio-weight= cap-add= cap-drop= cgroup-parent= cgroupns= cidfile= cpu-period= \
     cpu-quota= cpu-shares= cpus= cpuset-cpus= cpuset-mems= detach-keys= device= device-cgroup-rule= dns= dns-option= \
     dns-search= domainname= entrypoint= env= env-file= expose= gpus= group-add= health-cmd= health-interval= \
     health-retries= health-timeout= hostname= ip= ip6= ipc= isolation= kernel-memory= label= label-file= link= \
     log-driver= log-opt= mac-address= memory= memory-reservation= memory-swap= mount= name= net= network= \
     network-alias= oom-score-adj= pid= pids-limit= platform= publish= pull= restart= runtime= security-opt= shm-size= \
     stop-signal= stop-timeout= storage-opt= sysctl= tmpfs= ulimit= user= userns= uts= volume= volume-driver= \
     volumes-from= workdir= privileged? detach interactive tty rm init read-only publish-all",
);

/// `docker`.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&GLOBAL.stops());
    if call.is_asked() || read.operands.is_empty() {
        return Outcome::harmless();
    }
    let mut words = read.operands.as_slice();
    // `docker container run` is `docker run`.
    if read.verb() == "container" && words.get(1).and_then(Value::text) != Some("prune") {
        words = words.get(1..).unwrap_or_default();
    }
    let Some((verb, rest)) = words.split_first() else { return Outcome::harmless() };
    let inner = Call { args: rest, ..*call };
    let verb = verb.text().unwrap_or_default();
    let said = || {
        format!("{} {verb} {}", call.name, rest.iter().filter_map(Value::text).collect::<Vec<_>>().join(" "))
    };
    let remote = read
        .value("H host")
        .filter(|host| host.prefix().starts_with(b"tcp://") || host.prefix().starts_with(b"ssh://"));
    let mut outcome = match verb {
        "run" | "create" => run(&inner, false),
        "exec" => run(&inner, true),
        "compose" => super::compose::outcome(&inner),
        "container" | "system" | "image" | "volume" | "network" | "builder" | "buildx" | "stack"
        | "swarm" | "service" | "node" | "secret" | "config" | "context" | "machine" | "pod" | "plugin"
        | "manifest" | "namespace" | "scout" => managed(&inner, verb, &said()),
        "rm" => removed(&inner, &said()),
        "rmi" => {
            let read = inner.read(&Options::new("", "force no-prune all"));
            let many = rest.iter().any(|arg| arg.why().is_some()) || read.has("a all f force");
            Outcome::of([if many { destroys(said()) } else { changes(said()) }])
        }
        "kill" | "stop" | "pause"
            if rest.iter().any(|arg| arg.text().is_some_and(|name| name.contains("belljar"))) =>
        {
            Outcome::of([Act::Tamper { how: "belljar itself would be stopped".to_owned() }])
        }
        "cp" => copied(&inner),
        "save" | "export" => {
            let read = inner.read(&Options::new("o:", "output="));
            Outcome::of(read.value("o output").map(|file| call.writes(file, Change::Replace)))
        }
        "load" | "import" => {
            let read = inner.read(&Options::new("i:c:m:", "input= change= message="));
            Outcome::of(read.values("i input").map(|file| call.reads(file)))
        }
        "build" => built(&inner),
        "push" => Outcome::of([changes(said())]),
        "login" => Outcome::harmless(),
        "-v" | "--version" => Outcome::harmless(),
        _ => Outcome::harmless(),
    };
    if let Some(host) = remote {
        outcome.push(call.network(Traffic::Remote, host, Vec::new()));
    }
    or_harmless(outcome).rehearsed_if(is_rehearsal(&inner))
}

/// `docker run image command` and `docker exec container command`.
pub(super) fn run(call: &Call<'_>, exec: bool) -> Outcome {
    let read = call.read(&RUN.stops());
    let mut outcome = Outcome::default();
    let mounts = mounts::given(call, &read, &mut outcome);
    for file in read.values("env-file label-file") {
        outcome.push(call.reads(file));
    }
    let Some((image, command)) = read.operands.split_first() else { return or_harmless(outcome) };
    if exec && image.text().is_some_and(|name| name.contains("belljar")) {
        outcome.push(Act::Tamper { how: "belljar's own container".to_owned() });
    }
    let image = image.text().unwrap_or("a container").to_owned();
    let mut argv: Vec<Value> = command.to_vec();
    if let Some(program) = read.value("entrypoint").filter(|program| !program.pieces.is_empty()) {
        argv.insert(0, program.clone());
    } else if !exec && let Some(program) = entrypoint(&image) {
        // Images of one program run it with whatever they are given.
        argv.insert(0, Value::known(program));
    }
    if argv.is_empty() {
        return or_harmless(outcome);
    }
    if let Some(here) = mounts::seen_here(&argv, &mounts) {
        outcome.next.push(call.next(here));
    }
    if wipes(&argv) {
        outcome.push(destroys(format!("{} in {image}", said(&argv))));
    }
    outcome.then(inside(call, argv, image))
}

/// The program an image is named for.
fn entrypoint(image: &str) -> Option<&'static str> {
    let name = image.rsplit('/').next().unwrap_or(image);
    let name = name.split([':', '@']).next().unwrap_or(name);
    [
        "nmap",
        "curl",
        "nikto",
        "sqlmap",
        "masscan",
        "kubectl",
        "terraform",
        "aws-cli",
        "rclone",
        "hydra",
        "nuclei",
        "git",
        "psql",
    ]
    .into_iter()
    .find(|program| *program == name)
    .map(|program| if program == "aws-cli" { "aws" } else { program })
}

fn said(argv: &[Value]) -> String {
    argv.iter().filter_map(Value::text).collect::<Vec<_>>().join(" ")
}

/// Another program inside; what it reads comes from here.
fn inside(call: &Call<'_>, argv: Vec<Value>, place: String) -> Next {
    let mut next = call.elsewhere(argv, place);
    if let Next::Program { invocation, .. } = &mut next {
        invocation.cwd = Value::known("/");
    }
    next
}

/// Whether a command inside empties what a container keeps its data in.
pub(super) fn wipes(argv: &[Value]) -> bool {
    let words: Vec<&str> = argv.iter().filter_map(Value::text).collect();
    let kept = ["/var/lib", "/data", "/bitnami", "/srv", "/mnt", "/var/www", "/backup", "/opt"];
    let line = words.join(" ");
    let is_script = words.first().is_some_and(|program| program.ends_with("sh"));
    let is_code = words.first().is_some_and(|program| {
        ["python", "node", "perl", "ruby", "php", "bun", "deno"]
            .iter()
            .any(|language| program.starts_with(language))
    });
    let takes =
        ["rmtree", "rmSync", "rm_rf", "rm_r", "remove_tree", "rmdirSync", "unlink", "rm -rf", "fs.rm("];
    if is_code && takes.iter().any(|word| line.contains(word)) {
        return ["'", "\"", " ", "("].iter().any(|before| {
            kept.iter().any(|place| line.contains(&format!("{before}{place}")))
                || line.contains(&format!("{before}/{before}"))
        });
    }
    let removes =
        words.first().is_some_and(|program| matches!(*program, "rm" | "shred" | "dd" | "mkfs" | "find"))
            || is_script && (line.contains("rm -rf /") || line.contains("rm -fr /"));
    removes
        && (kept.iter().any(|place| line.contains(&format!(" {place}")))
            || words.iter().any(|word| matches!(*word, "/" | "/*"))
            || line.ends_with("rm -rf /")
            || line.contains("rm -rf /*"))
        && (words.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R']))
            || line.contains("-delete")
            || line.contains("-rf"))
}

fn removed(call: &Call<'_>, said: &str) -> Outcome {
    let read = call.read(&Options::new("", "force link volumes all"));
    let many = call.args.iter().any(|arg| arg.why().is_some()) || call.invocation.more.is_some();
    // A container is made again from its image; its volumes are not.
    let loses = read.has("v volumes a all") || many || read.has("f force");
    Outcome::of([if loses { destroys(said) } else { changes(said) }])
}

/// `docker volume rm`, `docker system prune` and the like.
fn managed(call: &Call<'_>, object: &str, said: &str) -> Outcome {
    let verb = call.words().find(|word| !word.starts_with('-')).unwrap_or_default();
    let loses = match (object, verb) {
        ("builder" | "buildx", "prune") => false,
        (_, "prune" | "reset" | "leave" | "destroy") => true,
        ("context" | "plugin" | "builder" | "buildx" | "manifest" | "image", "rm" | "remove") => {
            call.says(&["-f", "--force", "-a", "--all"])
        }
        (_, "rm" | "remove" | "demote" | "delete") => true,
        _ => false,
    };
    if loses {
        return Outcome::of([destroys(said)]);
    }
    match (object, verb) {
        ("system", "service") => {
            Outcome::of([call.network(Traffic::Listen, &Value::known("the container service"), Vec::new())])
        }
        ("buildx" | "builder" | "image", "build") => {
            let args = call.args.get(1..).unwrap_or_default();
            built(&Call { args, ..*call })
        }
        ("machine", "ssh") => Outcome::harmless(),
        _ => Outcome::harmless(),
    }
}

fn copied(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("", "archive follow-link quiet"));
    let mut outcome = Outcome::default();
    let there = |place: &Value| {
        let text = String::from_utf8_lossy(place.prefix()).into_owned();
        text.find(':').is_some_and(|colon| colon > 0 && text.find('/').is_none_or(|slash| slash > colon))
    };
    match read.operands.as_slice() {
        [from, to] if there(from) && to.text() != Some("-") => {
            let name = Value::known(from.text().unwrap_or_default().rsplit('/').next().unwrap_or_default());
            let path = if call.is_directory(to) { call.inside(to, &name) } else { call.path(to) };
            outcome.push(super::super::call::write(path, Change::Replace, None));
        }
        [from, _] if !there(from) && from.text() != Some("-") => {
            outcome.push(Act::Read { path: call.path(from), deep: true });
        }
        _ => {}
    }
    or_harmless(outcome)
}

fn built(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "f:t:o:c:m:",
        "file= tag= build-arg= target= output= secret= ssh= platform= cache-from= cache-to= label= network= iidfile= \
         metadata-file= progress= builder= build-context= add-host= allow= volume= push load no-cache pull quiet",
    ));
    let mut outcome = Outcome::of([Act::Run {
        code: crate::effects::act::Code::Project,
        with: format!("{} build", call.name),
    }]);
    for secret in read.values("secret") {
        let text = secret.text().unwrap_or_default();
        let source = text
            .split(',')
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| matches!(*name, "src" | "source"));
        if let Some((_, path)) = source {
            outcome.push(Act::Look { path: call.path(&Value::known(path)) });
        }
    }
    for context in read
        .operands
        .iter()
        .filter(|context| context.prefix().starts_with(b"http") || context.prefix().starts_with(b"git@"))
    {
        outcome.push(call.network(Traffic::Fetch, context, Vec::new()));
    }
    if read.allows_all() {
        outcome.push(Act::Privilege { how: "a privileged build".to_owned() });
    }
    if call.invocation.input.data.iter().any(|datum| matches!(datum, Datum::Download(_)))
        && read.operands.iter().any(|arg| arg.text() == Some("-"))
    {
        outcome.acts.extend(
            super::super::shells::code(call, &Stream::data(call.invocation.input.data.clone()))
                .into_iter()
                .map(|act| (act, crate::effects::act::Effort::Done)),
        );
    }
    outcome
}

impl Read {
    fn allows_all(&self) -> bool {
        self.values("allow").any(|value| value.text() == Some("security.insecure")) || self.has("privileged")
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn what_runs_inside_is_elsewhere() {
        check(&[
            ("docker run --rm alpine rm -rf /tmp", "> @alpine rm -rf /tmp"),
            ("docker exec -it web bash", "> @web bash"),
            ("docker run --privileged alpine", "privilege a privileged container"),
            ("docker run -v /:/h alpine ls", "privilege / of this machine in a container; > @alpine ls"),
            ("docker run -v data:/data alpine ls", "> @alpine ls"),
            (
                "docker run -v ./build:/out alpine rm -rf /out/x",
                "look /home/dev/project/build; > rm -rf /home/dev/project/build/x; > @alpine rm -rf /out/x",
            ),
            ("docker run -v ~/.aws:/a x/y", "read/ /home/dev/.aws"),
            ("docker ps -a", "compute"),
            ("docker rm web", "infra docker rm web"),
            ("docker rm -fv db", "infra! docker rm -fv db"),
            ("docker volume rm pg", "infra! docker volume rm pg"),
            ("docker system prune -af", "infra! docker system prune -af"),
            ("docker build -t app .", "project docker build"),
            ("docker cp web:/app/log.txt .", "write:Replace /home/dev/project/log.txt"),
            ("docker stop belljar", "tamper belljar itself would be stopped"),
        ]);
    }
}

//! Clusters: `kubectl`, `helm` and what stands around them.

use super::super::call::Call;
use super::super::options::{Options, Read};
use super::{changes, containers, destroys, is_rehearsal, or_harmless};
use crate::effects::act::{Act, Change, Datum, Effort, Traffic};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

const KUBECTL: Options = Options::new(
    "n:f:k:l:o:c:s:p:L:A?",
    "namespace= filename= kustomize= selector= output= container= server= patch= context= kubeconfig= cluster= user= \
     token= as= as-group= field-selector= replicas= grace-period= timeout= image= overrides= template= since= tail= \
     dry-run? field-manager= type= port= restart= env= labels= from-file= from-literal= from-env-file= clusterrole= \
     serviceaccount= role= group= all force now recursive wait? privileged? rm stdin tty all-namespaces raw flatten minify prune",
);

/// `kubectl`.
pub(in super::super) fn kubectl(call: &Call<'_>) -> Outcome {
    // `k3s kubectl` and `microk8s kubectl` are `kubectl`.
    if let ("k3s" | "microk8s", [first, rest @ ..]) = (call.name, call.args) {
        if first.text() == Some("kubectl") {
            return kubectl(&Call { name: "kubectl", args: rest, ..*call });
        }
        let loses = matches!(first.text(), Some("reset" | "leave" | "uninstall"));
        return if loses { Outcome::of([destroys(call.name)]) } else { Outcome::harmless() };
    }
    let at = call.args.iter().position(|arg| arg.text() == Some("--")).unwrap_or(call.args.len());
    let (before, after) = call.args.split_at_checked(at).unwrap_or_default();
    let command = after.get(1..).unwrap_or_default();
    let read = KUBECTL.read(before);
    if call.is_asked() && command.is_empty() {
        return Outcome::harmless();
    }
    let said = format!(
        "{} {}",
        call.name,
        read.operands.iter().filter_map(Value::text).collect::<Vec<_>>().join(" ")
    );
    let rehearsed = is_rehearsal(call) || read.value("dry-run").is_some_and(|how| how.text() != Some("none"));
    let mut outcome = Outcome::default();
    match read.verb() {
        "delete" | "drain" => outcome.push(destroys(&said)),
        "replace" if read.has("force") => outcome.push(destroys(said)),
        "apply" if read.has("prune") => outcome.push(destroys(said)),
        "create" if read.word(1) == "token" => {
            let what = "a token of a cluster".to_owned();
            outcome.output = Stream::data([Datum::Secret(what.clone())]);
            outcome.push(Act::Reveal { what });
        }
        "apply" | "create" | "replace" => {
            for file in read.values("f filename k kustomize") {
                source(call, file, &mut outcome);
            }
            let grants = read.value("clusterrole").and_then(Value::text) == Some("cluster-admin");
            if grants {
                outcome.push(Act::Privilege { how: "the role cluster-admin".to_owned() });
            }
            outcome.push(changes(said));
        }
        "scale" if read.value("replicas").and_then(Value::text) == Some("0") => outcome.push(destroys(said)),
        // What keeps a volume until nobody uses it is taken off.
        "patch"
            if call.words().any(|word| {
                word.contains("finalizers") && (word.contains("null") || word.contains("[]"))
            }) =>
        {
            outcome.push(destroys(said));
        }
        "cordon" | "taint" | "patch" | "edit" | "set" | "scale" | "rollout" | "annotate" | "label"
        | "uncordon" | "autoscale" | "expose" => outcome.push(changes(said)),
        "debug" if read.word(1).starts_with("node/") => {
            // The node's own disk and processes are in that container.
            outcome.push(Act::Privilege { how: "a container over a node of a cluster".to_owned() });
        }
        "exec" | "debug" => {
            let words = if command.is_empty() { read.operands.get(2..).unwrap_or_default() } else { command };
            inside(call, words, &said, &mut outcome);
        }
        "run" => started(call, &read, command, &mut outcome),
        "cp" => copied(call, &read, &mut outcome),
        "get" | "describe" | "view" if is_secret(&read) => {
            let shows =
                read.value("o output").is_some_and(|how| !matches!(how.text(), Some("name" | "wide")));
            if shows {
                outcome.push(Act::Reveal { what: "secrets of a cluster".to_owned() });
                outcome.output = Stream::data([Datum::Secret("secrets of a cluster".to_owned())]);
            }
        }
        "config" if read.word(1) == "view" && read.has("raw") => {
            outcome.push(Act::Read { path: call.at_home(".kube/config"), deep: false });
        }
        "config" if read.word(1).starts_with("delete") || read.word(1).starts_with("set") => {
            outcome.push(changes(said));
        }
        "proxy" if call.says(&["--address=0.0.0.0"]) => {
            outcome.push(call.network(Traffic::Listen, &Value::known("0.0.0.0"), Vec::new()));
        }
        _ => {}
    }
    or_harmless(outcome).rehearsed_if(rehearsed)
}

fn is_secret(read: &Read) -> bool {
    read.operands
        .iter()
        .skip(1)
        .filter_map(Value::text)
        .any(|what| what.split(',').any(|kind| matches!(kind.split('/').next(), Some("secret" | "secrets"))))
}

fn source(call: &Call<'_>, file: &Value, outcome: &mut Outcome) {
    if file.prefix().starts_with(b"http") {
        outcome.push(call.network(Traffic::Fetch, file, Vec::new()));
    } else if file.text() != Some("-") {
        outcome.push(call.reads(file));
    }
}

/// What is run in a container of the cluster.
fn inside(call: &Call<'_>, words: &[Value], said: &str, outcome: &mut Outcome) {
    if words.is_empty() {
        return;
    }
    if containers::wipes(words)
        || matches!(words.first().and_then(Value::text), Some("rm" | "shred" | "dd" | "kill"))
    {
        outcome.push(destroys(said));
    }
    let mut next = call.elsewhere(words.to_vec(), "a cluster");
    if let Next::Program { invocation, .. } = &mut next {
        invocation.cwd = Value::known("/");
    }
    outcome.next.push(next);
}

fn started(call: &Call<'_>, read: &Read, command: &[Value], outcome: &mut Outcome) {
    let overrides = read.value("overrides").and_then(Value::text).unwrap_or_default();
    let telling = ["privileged\":true", "hostPID\":true", "hostNetwork\":true", "hostPath"];
    let compact: String = overrides.chars().filter(|letter| !letter.is_whitespace()).collect();
    if read.has("privileged") || telling.iter().any(|word| compact.contains(word)) {
        outcome.push(Act::Privilege { how: "a privileged container in a cluster".to_owned() });
    }
    outcome.push(changes("kubectl run"));
    if !command.is_empty() {
        outcome.next.push(call.elsewhere(command.to_vec(), "a cluster"));
    }
}

fn copied(call: &Call<'_>, read: &Read, outcome: &mut Outcome) {
    let there = |place: &Value| place.text().is_some_and(|text| text.contains(':'));
    if let [_, from, to, ..] = read.operands.as_slice() {
        if there(to) && !there(from) {
            outcome.push(Act::Read { path: call.path(from), deep: true });
            let data = vec![Datum::File(call.path(from))];
            outcome.push(call.network(Traffic::Send, &Value::known("a cluster"), data));
        } else if there(from) {
            outcome.push(call.writes(to, Change::Replace));
        }
    }
}

/// `helm`, `argocd`, `eksctl` and others with a verb that takes away.
pub(in super::super) fn others(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let said = format!("{} {}", call.name, call.words().take(6).collect::<Vec<_>>().join(" "));
    let words: Vec<&str> = call.words().collect();
    let verb = |wanted: &[&str]| {
        words.iter().filter(|word| !word.starts_with('-')).take(3).any(|word| wanted.contains(word))
    };
    let loses = match call.name {
        "helm" => verb(&["uninstall", "delete", "del", "un"]) && !verb(&["repo", "plugin"]),
        "helmfile" => verb(&["destroy", "delete"]),
        "k9s" => words.iter().any(|word| word.contains("delete")),
        // Clusters of this machine that are made again in a minute.
        "minikube" | "kind" | "k3d" => verb(&["delete"]),
        "kubeadm" => verb(&["reset"]),
        "skaffold" => verb(&["delete"]),
        "tilt" => verb(&["down"]),
        "talosctl" => verb(&["reset", "wipe"]),
        "rke" | "k0s" | "k0sctl" | "kubespray" => verb(&["remove", "reset"]),
        "restic" => verb(&["forget", "prune"]),
        _ => verb(&["delete", "destroy", "remove", "terminate", "uninstall", "rm", "prune"]),
    };
    if loses {
        return Outcome::of([destroys(said)]).rehearsed_if(is_rehearsal(call));
    }
    let changing = verb(&["install", "upgrade", "rollback", "apply", "sync", "create", "scale", "bootstrap"]);
    if !changing {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::of([changes(said)]);
    outcome.acts.extend(chart(call).map(|act| (act, Effort::Done)));
    outcome.rehearsed_if(is_rehearsal(call))
}

/// A chart that is named by its address: the cluster then runs what no repository of charts vouches for.
fn chart(call: &Call<'_>) -> Option<Act> {
    let read = call.read(&Options::new(
        "n:f:",
        "namespace= values= set= set-string= set-file= set-json= version= repo= timeout= kube-context= kubeconfig= \
         description= history-max= username= password= post-renderer= name-template=",
    ));
    let is_address = |chart: &&Value| {
        [b"http://".as_slice(), b"https://"].iter().any(|scheme| chart.prefix().starts_with(scheme))
    };
    let from = read.operands.iter().find(is_address).filter(|_| call.name == "helm")?;
    Some(Act::Package {
        manager: "helm".to_owned(),
        operation: "install".to_owned(),
        names: Vec::new(),
        global: false,
        from: Some(from.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn clusters_are_looked_at_and_taken_down() {
        check(&[
            ("kubectl get pods -A", "compute"),
            ("kubectl -n prod delete deploy,svc --all", "infra! kubectl delete deploy,svc"),
            ("kubectl delete pod x --dry-run=client", "~infra! kubectl delete pod x"),
            ("kubectl delete --help", "compute"),
            ("kubectl scale deployment api --replicas=0", "infra! kubectl scale deployment api"),
            ("kubectl scale deployment api --replicas=3", "infra kubectl scale deployment api"),
            ("kubectl exec web-1 -- ls /app", "> @a cluster ls /app"),
            ("kubectl get secret db -o yaml", "reveal secrets of a cluster"),
            ("kubectl get secrets", "compute"),
            ("kubectl apply -f k8s/", "read /home/dev/project/k8s; infra kubectl apply"),
            ("helm uninstall api", "infra! helm uninstall api"),
            ("helm list", "compute"),
            ("helm install web ./chart", "infra helm install web ./chart"),
            (
                "helm install web https://x.test/c.tgz",
                "infra helm install web https://x.test/c.tgz; package helm install  from https://x.test/c.tgz",
            ),
            (
                "helm install web nginx --repo https://x.test",
                "infra helm install web nginx --repo https://x.test",
            ),
            ("eksctl delete cluster --name prod", "infra! eksctl delete cluster --name prod"),
        ]);
    }
}

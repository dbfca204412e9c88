//! Clouds and hosts of other people's machines: a service, an object, a verb.
//!
//! Owns: which verbs take away, in the many spellings of these programs, and which words hand out credentials. Refuses: the
//! thousands of services; a verb means the same in all of them.

use super::super::call::Call;
use super::super::options::Options;
use super::super::sql::statements;
use super::{changes, destroys, is_rehearsal};
use crate::effects::act::{Act, Datum, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// Options that take no value, so that the word behind them is one of the command.
const FLAGS: [&str; 22] = [
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "-f",
    "--force",
    "-m",
    "-r",
    "-R",
    "--recursive",
    "-v",
    "--verbose",
    "--debug",
    "--no-cli-pager",
    "--no-paginate",
    "--json",
    "--non-interactive",
    "--no-verify-ssl",
    "-o",
    "--no-prompt",
    "--async",
    "--local",
];

/// `aws`, `gcloud`, `az`, `heroku` and the others.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() || call.says(&["help"]) && call.args.len() <= 3 {
        return Outcome::harmless();
    }
    let words = words(call);
    let said = format!("{} {}", call.name, words.join(" "));
    if let Some(what) = credentials(call, &words) {
        let output = Stream::data([Datum::Secret(what.clone())]);
        return Outcome::of([Act::Reveal { what }]).saying(output);
    }
    let mut outcome = Outcome::default();
    if call.name == "ngrok" || call.name == "cloudflared" && words.first() == Some(&"tunnel") {
        let is_open = !matches!(words.get(1).copied(), Some("list" | "info" | "login"));
        if is_open && !matches!(words.first().copied(), Some("config" | "version" | "update" | "diagnose")) {
            outcome.push(call.network(
                Traffic::Listen,
                &Value::known("a tunnel from the internet"),
                Vec::new(),
            ));
        }
        return super::or_harmless(outcome);
    }
    if let ("aws", ["iam", verb, ..]) = (call.name, words.as_slice())
        && (verb.starts_with("attach-") || verb.starts_with("put-"))
        && call.words().any(|word| word.ends_with("/AdministratorAccess") || word.contains("\"*\""))
    {
        outcome.push(Act::Privilege { how: format!("aws iam {verb} of all rights") });
    }
    transfers(call, &words, &mut outcome);
    remote(call, &words, &mut outcome);
    if takes_away(call, &words) {
        outcome.push(destroys(said));
    } else if words.iter().any(|word| is_changing(word)) {
        outcome.push(changes(said));
    }
    super::or_harmless(outcome).rehearsed_if(is_rehearsal(call))
}

/// The words that are no option and no option's value, the first few.
fn words<'a>(call: &'a Call<'_>) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut skip = false;
    for arg in call.args {
        let text = arg.text().unwrap_or("?");
        if text.starts_with('-') {
            skip = !text.contains('=') && !FLAGS.contains(&text);
        } else if std::mem::take(&mut skip) && !is_taking(text) {
            continue;
        } else {
            found.push(text);
        }
    }
    found.truncate(6);
    found
}

/// A verb that takes away, alone or with its object: `delete`, `delete-stack`, `apps:destroy`.
fn is_taking(word: &str) -> bool {
    const VERBS: [&str; 18] = [
        "permanent-delete",
        "decommission",
        "leave-organization",
        "hosting:disable",
        "delete",
        "destroy",
        "remove",
        "rm",
        "rb",
        "purge",
        "terminate",
        "drop",
        "wipe",
        "deprovision",
        "teardown",
        "reset",
        "undeploy",
        "undelete-never",
    ];
    let last = word.rsplit([':', '.']).next().unwrap_or(word);
    VERBS.contains(&word)
        || word.contains(':') && (VERBS.contains(&last) || last.ends_with("delete"))
        || [
            "delete-",
            "terminate-",
            "destroy-",
            "remove-",
            "purge-",
            "deregister-",
            "empty-",
            "Delete",
            "Terminate",
            "Destroy",
        ]
        .iter()
        .any(|start| word.starts_with(start))
        || matches!(
            word,
            "stop-instances"
                | "schedule-key-deletion"
                | "batch-delete-image"
                | "reset-db"
                | "truncate"
                | "disable-rollback"
        )
}

fn takes_away(call: &Call<'_>, words: &[&str]) -> bool {
    let taking = words.iter().position(|word| is_taking(word));
    let none = |option: &[&str]| {
        call.args.windows(2).any(|pair| {
            matches!(pair, [name, count]
                if name.text().is_some_and(|name| option.contains(&name)) && count.text() == Some("0"))
        })
    };
    match (call.name, words) {
        ("aws", ["autoscaling" | "ecs", "update-auto-scaling-group" | "update-service", ..]) => {
            none(&["--desired-capacity", "--max-size", "--desired-count"])
        }
        ("aws", ["s3api", "put-bucket-policy" | "put-bucket-lifecycle-configuration", ..]) => true,
        ("azd", ["down", ..]) => true,
        ("az", ["deployment", ..]) => call.says(&["Complete"]),
        ("wrangler", ["d1", "execute", ..]) => call.words().any(tells),
        ("gcloud", ["compute", "instances" | "instance-groups", "stop" | "suspend" | "reset", ..]) => true,
        ("aws", ["s3", "sync", ..]) => call.says(&["--delete"]),
        ("aws", ["s3", "mv", ..]) => false,
        ("aws", ["configure" | "s3", "get" | "set" | "ls" | "cp", ..]) => false,
        ("aws", [_, verb, ..]) if is_taking(verb) => {
            !matches!(*verb, "remove-tags" | "delete-message" | "remove-tags-from-resource" | "delete-tags")
        }
        ("aws", _) => false,
        ("gsutil", ["rsync", ..]) => call
            .args
            .iter()
            .any(|arg| arg.text().is_some_and(|arg| arg.starts_with('-') && arg.contains('d'))),
        ("gsutil", [verb, ..]) => matches!(*verb, "rm" | "rb"),
        ("bq", [verb, ..]) => *verb == "rm" || *verb == "query" && call.words().any(tells),
        ("railway", ["down", ..]) => true,
        ("fly" | "flyctl", ["scale", "count", "0", ..]) => true,
        ("heroku", ["ps:scale", rest @ ..]) => rest.iter().any(|word| word.ends_with("=0")),
        ("heroku", ["config:unset" | "config:remove", ..]) => true,
        ("supabase" | "firebase" | "wrangler", _) => taking.is_some(),
        ("dokku", [verb, ..]) => is_taking(verb),
        (_, _) => taking.is_some_and(|place| place < 4),
    }
}

/// Whether a word is a statement that takes away more than the rows it names.
fn tells(word: &str) -> bool {
    let is_lost = |act: &Act| matches!(act, Act::Database { destroys: true, .. });
    word.contains(' ') && statements(word).iter().any(is_lost)
}

fn is_changing(word: &str) -> bool {
    [
        "create", "update", "deploy", "apply", "put-", "run-", "start-", "stop-", "modify-", "scale",
        "restart", "promote", "set-",
    ]
    .iter()
    .any(|verb| word.starts_with(verb))
}

/// Words that print credentials.
fn credentials(call: &Call<'_>, words: &[&str]) -> Option<String> {
    let shows = match (call.name, words) {
        ("aws", ["configure", "get", key, ..]) => {
            key.contains("secret") || key.contains("token") || key.contains("access_key")
        }
        ("aws", ["configure", "export-credentials", ..])
        | (
            "aws",
            ["secretsmanager", "get-secret-value" | "batch-get-secret-value", ..]
            | ["sts", "get-session-token" | "assume-role" | "get-federation-token", ..]
            | ["ecr", "get-login-password" | "get-login" | "get-authorization-token", ..]
            | ["iam", "create-access-key", ..]
            | ["rds", "generate-db-auth-token", ..]
            | ["codeartifact", "get-authorization-token", ..]
            | ["kms", "decrypt", ..],
        ) => !matches!(words, ["ecr", "get-login-password", ..]),
        ("aws", ["ssm", "get-parameter" | "get-parameters" | "get-parameters-by-path", ..]) => {
            call.says(&["--with-decryption"])
        }
        ("gcloud", ["auth", "print-access-token" | "print-identity-token", ..])
        | ("gcloud", ["auth", "application-default", "print-access-token", ..])
        | ("gcloud", ["secrets", "versions", "access", ..])
        | ("gcloud", ["config", "config-helper", ..])
        | ("gcloud", ["iam", "service-accounts", "keys", "create", ..])
        | ("az", ["account", "get-access-token", ..])
        | ("az", ["keyvault", "secret", "show" | "download", ..])
        | ("az", ["acr", "credential", "show", ..])
        | ("az", ["storage", "account", "keys", "list", ..])
        | ("doctl", ["auth", "token", ..])
        | ("heroku", ["auth:token" | "authorizations:create" | "config" | "config:get", ..])
        | ("fly" | "flyctl", ["auth", "token", ..] | ["tokens", "create", ..])
        | ("supabase", ["secrets", "get", ..])
        | ("vercel", ["env", "pull", ..])
        | ("firebase", ["functions:config:get" | "functions:secrets:access", ..])
        | ("netlify", ["env:list" | "env:get", ..])
        | ("railway", ["variables", ..])
        | ("oci" | "ibmcloud", ["iam", "oauth-tokens" | "api-key-create", ..]) => true,
        _ => false,
    };
    shows.then(|| format!("credentials of {}", call.name))
}

/// Files that go up and down.
fn transfers(call: &Call<'_>, words: &[&str], outcome: &mut Outcome) {
    if words.iter().any(|word| matches!(*word, "upload" | "upload-batch" | "put-object" | "copy")) {
        let read = Options::new("f:s:", "file= source= body= file-path=").read(call.args);
        for file in read.values("f file s source body file-path") {
            let path = call.path(file);
            outcome.push(Act::Read { path: path.clone(), deep: true });
            outcome.push(call.network(Traffic::Send, &Value::known(call.name), vec![Datum::File(path)]));
        }
    }
    let (("aws", ["s3", "cp" | "sync" | "mv", places @ ..])
    | ("gsutil", ["cp" | "rsync" | "mv", places @ ..])
    | ("gcloud", ["storage", "cp" | "rsync" | "mv", places @ ..])) = (call.name, words)
    else {
        return;
    };
    let is_there = |place: &str| place.starts_with("s3://") || place.starts_with("gs://");
    let Some((to, from)) = places.split_last() else { return };
    let mut data = Vec::new();
    for place in from {
        if is_there(place) {
            outcome.push(call.network(Traffic::Fetch, &Value::known(*place), Vec::new()));
        } else if *place == "-" {
            data.extend(call.input_data());
        } else {
            let path = call.path(&Value::known(*place));
            outcome.push(Act::Read { path: path.clone(), deep: true });
            data.push(Datum::File(path));
        }
    }
    if is_there(to) {
        outcome.push(call.network(Traffic::Send, &Value::known(*to), data));
    } else if *to == "-" {
        outcome.output = Stream::data(from.iter().map(|place| Datum::Download(Value::known(*place))));
    } else if let Some(from) = from.first() {
        let to = Value::known(*to);
        let path =
            if call.is_directory(&to) { call.inside(&to, &Value::known(*from)) } else { call.path(&to) };
        outcome.push(super::super::call::write(path, crate::effects::act::Change::Replace, None));
    }
}

/// Commands on a machine there.
fn remote(call: &Call<'_>, words: &[&str], outcome: &mut Outcome) {
    let option = Options::new("C:", "command= ssh-command=").read(call.args);
    let command = match (call.name, words) {
        ("gcloud", ["compute", "ssh", ..])
        | ("fly" | "flyctl", ["ssh", "console", ..])
        | ("az", ["ssh", ..]) => option.value("command C").cloned(),
        ("heroku", ["run" | "run:detached", rest @ ..]) => Some(Value::known(rest.join(" "))),
        ("railway", ["run", ..]) => {
            let at = call.args.iter().position(|arg| arg.text() == Some("run")).unwrap_or(0);
            let rest = call.args.get(at + 1..).unwrap_or_default().to_vec();
            if !rest.is_empty() {
                outcome.next.push(call.next(rest));
            }
            return;
        }
        _ => return,
    };
    if let Some(text) = command {
        outcome.next.push(call.shell(text));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn verbs_take_away_in_every_cloud() {
        check(&[
            ("aws s3 ls", "compute"),
            ("aws --profile prod --region x ec2 delete-volume --volume-id v", "infra! aws ec2 delete-volume"),
            ("aws s3 rb s3://b --force", "infra! aws s3 rb s3://b"),
            ("aws s3 rm s3://b/x --dryrun", "~infra! aws s3 rm s3://b/x"),
            ("aws ec2 describe-instances", "compute"),
            ("aws s3 cp s3://b/d.csv .", "fetch s3://b/d.csv; write:Replace /home/dev/project/d.csv"),
            ("aws s3 cp .env s3://b/", "read/ /home/dev/project/.env; send s3://b/ </home/dev/project/.env>"),
            ("gcloud compute instances delete vm1 --quiet", "infra! gcloud compute instances delete vm1"),
            ("gsutil -m rm gs://b/**", "infra! gsutil rm gs://b/**"),
            ("az vm list", "compute"),
            ("heroku apps:destroy -a app --confirm app", "infra! heroku apps:destroy"),
            ("wrangler delete", "infra! wrangler delete"),
            ("gcloud auth print-access-token", "reveal credentials of gcloud"),
            ("ngrok http 3000", "listen a tunnel from the internet"),
        ]);
    }
}

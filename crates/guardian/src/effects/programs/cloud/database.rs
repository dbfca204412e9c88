//! Databases: what they are told on the command line, in a here-document, or by a file.

use super::super::call::Call;
use super::super::options::Options;
use super::super::sql;
use super::{destroys, or_harmless};
use crate::effects::act::{Act, Change, Code, Datum, Effort, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

const PSQL: Options = Options::new(
    "c:d:f:F:h:L:o:p:P:R:T:U:v:",
    "command= dbname= file= field-separator= host= log-file= output= port= pset= record-separator= table-attr= username= \
     set= variable= clean create no-owner if-exists list",
);
const RESTORE: Options = Options::new(
    "d:f:F:h:I:j:L:n:N:p:P:S:t:T:U:",
    "dbname= file= format= host= port= username= jobs= schema= table= role= use-list= clean create if-exists delete",
);
const MYSQL: Options = Options::new(
    "e:h:P:u:p?D:S:",
    "execute= host= port= user= password? database= socket= protocol= defaults-file= defaults-extra-file= init-command= \
     default-character-set= tee= ssl-ca= batch silent force result-file=",
);
const OTHERS: Options = Options::new(
    "q:e:c:d:f:h:u:p:s:o:i:Q:S:U:P:",
    "query= execute= command= database= file= host= user= password= port= output= input= eval= queries-file= init-command=",
);

/// `psql`, `mysql`, `sqlite3` and the tools beside them.
pub(in super::super) fn sql(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "dropdb" | "dropuser" | "pg_resetwal" | "pg_dropcluster" => Outcome::of([destroys(said(call))]),
        "createdb" | "createuser" => Outcome::harmless(),
        "initdb" | "pg_ctl" => Outcome::harmless(),
        "pg_restore" | "mysqlimport" => {
            let read = call.read(&RESTORE);
            let clean = read.has("c clean delete");
            let mut outcome = Outcome::of(read.operands.iter().map(|file| call.reads(file)));
            if clean {
                outcome.push(destroys(said(call)));
            }
            or_harmless(outcome)
        }
        "mysqladmin" | "mariadb-admin" => {
            let loses = call.words().any(|word| matches!(word, "drop" | "shutdown" | "flush-privileges"));
            if loses { Outcome::of([destroys(said(call))]) } else { Outcome::harmless() }
        }
        "pg_dump" | "pg_dumpall" | "mysqldump" | "mariadb-dump" | "bcp" => dumped(call),
        "sqlite3" | "sqlite" | "litecli" | "duckdb" => sqlite(call),
        _ => told(call),
    }
}

fn said(call: &Call<'_>) -> String {
    format!("{} {}", call.name, call.words().take(8).collect::<Vec<_>>().join(" "))
}

fn dumped(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "f:r:h:U:u:d:n:t:p?",
        "file= result-file= host= username= user= schema= table= password?",
    ));
    let mut outcome =
        Outcome::of(read.values("f file r result-file").map(|file| call.writes(file, Change::Replace)));
    outcome.output = contents(call);
    or_harmless(outcome)
}

/// What a database holds, as whoever it is sent to will see it.
fn contents(call: &Call<'_>) -> Stream {
    Stream::data([
        Datum::Secret("the contents of a database".to_owned()),
        Datum::Unknown(call.why("the contents of a database")),
    ])
}

/// Databases behind a server.
fn told(call: &Call<'_>) -> Outcome {
    let options = match call.name {
        "psql" | "pgcli" => &PSQL,
        "mysql" | "mariadb" | "mycli" => &MYSQL,
        _ => &OTHERS,
    };
    let read = call.read(options);
    let mut outcome = Outcome::default();
    let is_psql = call.name == "psql";
    let words = if is_psql { "c command" } else { "e execute c command q query Q eval init-command" };
    for text in read.values(words) {
        statement(call, text, &mut outcome);
    }
    // `cockroach sql -e`, `trino --execute`.
    for file in read
        .values("f file i input queries-file defaults-file defaults-extra-file")
        .filter(|file| file.text() != Some("-"))
    {
        outcome.push(call.reads(file));
    }
    for file in read.values("o output L log-file tee") {
        outcome.push(call.writes(file, Change::Replace));
    }
    if !read.has(words) || read.values("f file").any(|file| file.text() == Some("-")) {
        input(call, &mut outcome);
    }
    or_harmless(outcome)
}

/// What it reads.
fn input(call: &Call<'_>, outcome: &mut Outcome) {
    let input = &call.invocation.input;
    if let Some(text) = &input.text {
        statement(call, text, outcome);
    }
    for datum in &input.data {
        if let Datum::Download(from) = datum {
            let code = Code::Download(from.clone());
            outcome.push(Act::Run { code, with: call.name.to_owned() });
        }
    }
}

fn statement(call: &Call<'_>, text: &Value, outcome: &mut Outcome) {
    let known = String::from_utf8_lossy(text.prefix()).into_owned();
    // Lines behind a backslash or a dot are the client's own.
    let mut rest = String::new();
    for line in known.lines() {
        let trimmed = line.trim_start();
        if let Some(command) = trimmed.strip_prefix("\\!") {
            outcome.next.push(call.shell(Value::known(command)));
        } else if let Some(command) =
            trimmed.strip_prefix("system ").or_else(|| trimmed.strip_prefix("\\system "))
        {
            outcome.next.push(call.shell(Value::known(command)));
        } else if let Some(command) =
            trimmed.strip_prefix(".shell ").or_else(|| trimmed.strip_prefix(".system "))
        {
            outcome.next.push(call.shell(Value::known(command)));
        } else if trimmed.starts_with("\\copy") || trimmed.starts_with("\\o ") || trimmed.starts_with("\\g |")
        {
            if let Some((_, command)) = trimmed.split_once('|').or_else(|| trimmed.split_once("program ")) {
                outcome.next.push(call.shell(Value::known(command.trim().trim_matches('\''))));
            }
        } else if !(trimmed.starts_with('\\') || trimmed.starts_with('.') && call.name.contains("lite")) {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    for path in copied_to(&rest) {
        outcome.push(call.writes(&Value::known(path), Change::Replace));
    }
    for act in sql::statements(&rest) {
        if let Act::Database { statement, .. } = &act
            && let Some(command) = program(statement, &rest)
        {
            outcome.next.push(call.shell(Value::known(command)));
        }
        outcome.acts.push((act, Effort::Done));
    }
}

/// Files of the server's machine a statement writes: `COPY t TO '/x'`, `INTO OUTFILE '/x'`.
fn copied_to(text: &str) -> Vec<String> {
    let upper = text.to_ascii_uppercase();
    let words: &[&str] =
        if upper.trim_start().starts_with("COPY") { &[" TO '"] } else { &["OUTFILE '", "DUMPFILE '"] };
    let ends =
        words.iter().flat_map(|word| upper.match_indices(word).map(|(place, word)| place + word.len()));
    ends.filter_map(|place| text.get(place..)?.split('\'').next())
        .filter(|path| path.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

/// `COPY … PROGRAM 'command'`.
fn program(statement: &str, text: &str) -> Option<String> {
    if !statement.to_ascii_uppercase().starts_with("COPY") {
        return None;
    }
    let at = text.to_ascii_uppercase().find("PROGRAM")?;
    let rest = text.get(at..)?;
    rest.split('\'').nth(1).map(str::to_owned)
}

/// A database in a file of this machine.
fn sqlite(call: &Call<'_>) -> Outcome {
    let read = call.read(
        &Options::new("", "cmd= init= separator= nullvalue= newline= mmap= readonly json csv header")
            .one_dash(),
    );
    let mut outcome = Outcome::default();
    let changing = |text: &str| {
        let first = text.trim_start().to_ascii_uppercase();
        ["INSERT", "UPDATE", "DELETE", "DROP", "CREATE", "ALTER", "VACUUM", "REPLACE"]
            .iter()
            .any(|word| first.starts_with(word))
    };
    let file = read.operands.first();
    let mut writes = false;
    for text in read.operands.iter().skip(1).chain(read.values("cmd c")) {
        writes |= text.text().is_none_or(changing);
        statement(call, text, &mut outcome);
        files_of(call, text.text().unwrap_or_default(), &mut outcome);
    }
    for file in read.values("init") {
        outcome.push(call.reads(file));
    }
    if read.operands.len() < 2 {
        input(call, &mut outcome);
        writes |= call.invocation.input != Stream::default();
    }
    if let Some(file) = file.filter(|file| file.text() != Some(":memory:")) {
        outcome.push(if writes && !read.has("readonly") {
            call.writes(file, Change::Edit)
        } else {
            call.reads(file)
        });
    }
    or_harmless(outcome)
}

/// Files a statement itself reads or writes: `readfile('x')`, `writefile('x', …)`, `read_csv('x')`.
fn files_of(call: &Call<'_>, text: &str, outcome: &mut Outcome) {
    for (function, change) in [
        ("readfile", None),
        ("read_text", None),
        ("read_csv", None),
        ("writefile", Some(Change::Replace)),
        ("fsdir", None),
    ] {
        for rest in text.split(function).skip(1) {
            let Some(path) = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split('\'').nth(1))
            else {
                continue;
            };
            let path = Value::known(path);
            outcome.push(match change {
                Some(change) => call.writes(&path, change),
                None => call.reads(&path),
            });
        }
    }
}

/// Stores that do not speak SQL.
pub(in super::super) fn others(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let words: Vec<String> = call.words().map(str::to_ascii_lowercase).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let loses = match call.name {
        "mongodump" if call.words().any(|word| word == "--archive") => {
            return Outcome::harmless().saying(contents(call));
        }
        "mongo" | "mongosh" => return mongo(call),
        "redis-cli" | "valkey-cli" | "keydb-cli" => return redis(call),
        "influx" => has(&["delete"]),
        "etcdctl" => {
            has(&["del"]) && (has(&["--prefix", "--from-key"]) || words.iter().any(String::is_empty))
                || has(&["defrag-never"])
        }
        "consul" => has(&["delete"]) && has(&["-recurse", "-recurse=true"]) || has(&["leave", "force-leave"]),
        "kafka-topics.sh" | "kafka-topics" | "kafka-consumer-groups.sh" | "kafka-consumer-groups" => {
            has(&["--delete"])
        }
        "kafka-delete-records.sh" | "kafka-delete-records" => true,
        // What is older than a moment is gone.
        "kafka-configs.sh" | "kafka-configs" => {
            has(&["--alter"]) && words.iter().any(|word| word.contains("retention."))
        }
        "celery" => has(&["purge"]),
        "rq" => has(&["empty"]),
        "hdfs" | "hadoop" => has(&["-rm", "-rmr", "-rmdir", "-expunge", "-deletesnapshot"]),
        "dbt" => has(&["--full-refresh"]),
        "rabbitmqctl" => has(&[
            "reset",
            "force_reset",
            "delete_vhost",
            "delete_queue",
            "purge_queue",
            "delete_user",
            "stop",
            "shutdown",
            "stop_app",
        ]),
        "rabbitmqadmin" => has(&["delete", "purge"]),
        "curator" => has(&["delete_indices", "--delete"]),
        "mongorestore" => has(&["--drop"]),
        "nats" => has(&["rm", "purge", "delete", "del"]),
        "zkCli.sh" => has(&["deleteall", "rmr"]),
        "cypher-shell" => words.iter().any(|word| word.contains("detach delete") || word.contains("drop ")),
        "couchbase-cli" => has(&["bucket-delete", "bucket-flush"]),
        _ => false,
    };
    if loses { Outcome::of([destroys(said(call))]) } else { Outcome::harmless() }
}

fn mongo(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("u:p:", "eval= host= port= username= password= file="));
    let mut texts: Vec<String> =
        read.values("eval").map(|text| text.text().unwrap_or_default().to_owned()).collect();
    if let Some(text) = call.invocation.input.text.as_ref().and_then(Value::text) {
        texts.push(text.to_owned());
    }
    let mut outcome = Outcome::default();
    for text in &texts {
        let compact: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        if ["child_process", "execSync(", "spawn("].iter().any(|sign| compact.contains(sign)) {
            outcome.push(call.unknown("programs started from a database's shell"));
        }
        let loses = [
            "dropDatabase(",
            ".drop(",
            "deleteMany({})",
            ".remove({})",
            "dropUser(",
            "dropCollection(",
            "dropIndexes(",
            "shutdownServer(",
            "dropDatabase:1",
            "drop:\"",
            "updateMany({},",
            "remove({})",
        ]
        .iter()
        .any(|sign| compact.contains(sign));
        outcome.push(Act::Database { statement: text.chars().take(120).collect(), destroys: loses });
    }
    for file in read.operands.iter().filter(|file| {
        file.text().is_some_and(|file| std::path::Path::new(file).extension().is_some_and(|end| end == "js"))
    }) {
        outcome.push(Act::Run { code: Code::File(call.path(file)), with: call.name.to_owned() });
    }
    or_harmless(outcome)
}

fn redis(call: &Call<'_>) -> Outcome {
    let read = call.read(
        &Options::new(
            "h:p:a:u:n:r:i:d:D:x?s:",
            "user= pass= pattern= pipe eval= scan bigkeys rdb= count= cert= key= cacert=",
        )
        .stops(),
    );
    let mut outcome = Outcome::default();
    let mut lines: Vec<String> = Vec::new();
    if !read.operands.is_empty() {
        let words: Vec<&str> = read.operands.iter().map(|word| word.text().unwrap_or("?")).collect();
        lines.push(words.join(" "));
    } else if let Some(text) = call.invocation.input.text.as_ref().and_then(Value::text) {
        lines.extend(text.lines().map(str::to_owned));
    }
    if let Some(file) = read.value("eval") {
        outcome.push(call.reads(file));
    }
    for line in &lines {
        let upper = line.to_ascii_uppercase();
        let words: Vec<&str> = upper.split_whitespace().collect();
        let loses = match words.as_slice() {
            ["FLUSHALL" | "FLUSHDB" | "SHUTDOWN" | "SWAPDB" | "FAILOVER" | "REPLICAOF" | "SLAVEOF", ..] => {
                true
            }
            ["DEL" | "UNLINK", keys @ ..] => {
                call.invocation.more.is_some() || keys.contains(&"?") || keys.is_empty()
            }
            ["CONFIG", "SET", ..]
            | ["MODULE", "LOAD", ..]
            | ["DEBUG", ..]
            | ["SCRIPT", "FLUSH"]
            | ["CLUSTER", "RESET", ..]
            | ["ACL", "DELUSER", ..] => true,
            ["EVAL" | "EVALSHA", ..] => upper.contains("FLUSH") || upper.contains("'DEL'"),
            _ => false,
        };
        outcome.push(Act::Database { statement: line.clone(), destroys: loses });
    }
    if let Some(file) = read.value("rdb") {
        outcome.push(call.writes(file, Change::Replace));
    }
    let sent = read.operands.iter().any(|word| word.why().is_some()) && !call.invocation.flows.is_empty();
    if sent && let Some(host) = read.value("h") {
        outcome.push(call.network(Traffic::Send, host, call.invocation.flows.clone()));
    }
    or_harmless(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{check, given, shown};
    use super::*;

    #[test]
    fn statements_are_found_wherever_they_stand() {
        check(&[
            ("psql -c 'DROP TABLE users'", "sql! DROP TABLE users"),
            ("psql -h db -U app prod -c 'SELECT 1'", "sql SELECT 1"),
            ("psql -c '\\dt'", "compute"),
            ("psql -c '\\! rm -rf /'", "$  rm -rf /"),
            ("mysql shop -e 'DELETE FROM c'", "sql! DELETE FROM c"),
            ("sqlite3 app.db 'SELECT 1'", "sql SELECT 1; read /home/dev/project/app.db"),
            ("sqlite3 app.db .schema", "read /home/dev/project/app.db"),
            ("sqlite3 app.db 'DROP TABLE x'", "sql! DROP TABLE x; write:Edit /home/dev/project/app.db"),
            ("redis-cli -h cache flushdb", "sql! flushdb"),
            ("redis-cli del session:1", "sql del session:1"),
            ("mongosh --eval 'db.users.drop()'", "sql! db.users.drop()"),
            ("mongosh --eval 'db.users.find()'", "sql db.users.find()"),
            ("dropdb prod", "infra! dropdb prod"),
            ("pg_dump mydb", "compute"),
        ]);
        let text = Stream::text(Value::known("BEGIN;\nDROP TABLE a;\n"));
        assert_eq!(shown(&given("psql mydb", text)), "sql BEGIN; sql! DROP TABLE a");
    }
}

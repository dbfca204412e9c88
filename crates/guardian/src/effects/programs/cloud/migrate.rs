//! Migrations: the commands of frameworks that empty or drop a database.

use super::super::call::Call;
use super::super::interpreters;
use super::destroys;
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `rails db:drop`, `alembic downgrade base`, `flyway clean` and the like.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::of([Act::Run { code: Code::Project, with: call.name.to_owned() }]);
    if let Some(act) = lost(call.name, call.args) {
        outcome.push(act);
    }
    let shows = matches!(
        call.words().next(),
        Some("credentials:show" | "credentials:edit" | "encrypted:show" | "secrets:show")
    );
    if shows && matches!(call.name, "rails" | "rake") {
        let what = "credentials of the application".to_owned();
        return Outcome::of([Act::Reveal { what }]);
    }
    if let Some(typed) = interpreters::typed(call, call.name, call.args) {
        outcome.acts.extend(typed.acts);
        outcome.next.extend(typed.next);
    }
    outcome
}

/// What a framework's command loses, by the words behind its name; also for `python manage.py` and `php artisan`.
pub(in super::super) fn lost(name: &str, args: &[Value]) -> Option<Act> {
    let words: Vec<&str> = args.iter().filter_map(Value::text).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let loses = match name {
        "lein" => has(&["migratus"]) && has(&["reset"]),
        "console" => {
            verb.starts_with("doctrine:database:drop")
                || verb.starts_with("doctrine:schema:drop")
                || matches!(verb, "doctrine:fixtures:load" | "doctrine:mongodb:schema:drop")
                    && !has(&["--append"])
        }
        "rails" | "rake" | "bin/rails" => words.iter().any(|word| {
            matches!(
                *word,
                "db:drop"
                    | "db:reset"
                    | "db:purge"
                    | "db:drop:all"
                    | "db:migrate:reset"
                    | "db:truncate_all"
                    | "db:schema:load"
                    | "db:setup:force"
                    | "db:seed:replant"
            )
        }),
        "manage.py" | "django-admin" => {
            matches!(
                verb,
                "flush" | "reset_db" | "sqlflush" | "drop_db" | "dropdb" | "reset_schema" | "clean_db"
            ) && verb != "sqlflush"
                || verb == "migrate" && has(&["zero"])
        }
        "artisan" => matches!(verb, "migrate:fresh" | "migrate:reset" | "migrate:refresh" | "db:wipe"),
        "mix" => matches!(verb, "ecto.drop" | "ecto.reset"),
        "sequelize" | "sequelize-cli" => matches!(verb, "db:drop" | "db:migrate:undo:all"),
        "knex" => verb == "migrate:rollback" && has(&["--all"]),
        "typeorm" => matches!(verb, "schema:drop"),
        "alembic" => verb == "downgrade",
        "flask" => has(&["db"]) && has(&["downgrade"]) || has(&["drop-db", "drop_db", "reset-db"]),
        "liquibase" => words.iter().any(|word| {
            matches!(
                word.to_ascii_lowercase().as_str(),
                "dropall" | "drop-all" | "rollback" | "rollbackcount"
            )
        }),
        "flyway" => has(&["clean", "undo"]),
        "prisma" => {
            has(&["migrate"]) && has(&["reset"])
                || has(&["db"]) && has(&["--force-reset", "--accept-data-loss"])
        }
        "drizzle-kit" => has(&["drop"]),
        "dbmate" => matches!(verb, "drop" | "down" | "rollback"),
        "goose" => has(&["reset", "down-to"]),
        "migrate" => has(&["drop"]) || has(&["down"]) && !has(&["1"]),
        "sqlx" => has(&["database"]) && has(&["drop", "reset"]),
        "diesel" => has(&["database"]) && has(&["reset", "drop"]),
        "phinx" => verb == "rollback" && has(&["-t", "0"]),
        "doctrine" => words.iter().any(|word| {
            word.starts_with("doctrine:database:drop") || word.starts_with("doctrine:schema:drop")
        }),
        "mikro-orm" => words.iter().any(|word| {
            matches!(*word, "schema:drop" | "schema:fresh" | "migration:fresh" | "database:drop")
        }),
        "sea-orm-cli" => has(&["fresh", "reset", "refresh"]),
        "hasura" => has(&["metadata"]) && has(&["clear"]),
        "sqitch" => verb == "revert",
        "dotnet" => has(&["ef"]) && has(&["database"]) && has(&["drop"]),
        _ => false,
    };
    let rehearsed = has(&["--dry-run", "--pretend", "--sql"]);
    (loses && !rehearsed).then(|| destroys(format!("{name} {}", words.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn migrations_forward_are_told_from_those_that_drop() {
        check(&[
            ("rails db:migrate", "project rails"),
            ("rails db:drop", "project rails; infra! rails db:drop"),
            ("alembic upgrade head", "project alembic"),
            ("alembic downgrade base", "project alembic; infra! alembic downgrade base"),
            ("prisma migrate reset --force", "project prisma; infra! prisma migrate reset --force"),
            ("mix test", "project mix"),
            ("flyway info", "project flyway"),
        ]);
    }
}

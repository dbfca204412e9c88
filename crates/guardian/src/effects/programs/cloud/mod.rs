//! Programs that reach containers, clusters, clouds, databases and stores of secrets.

mod cluster;
mod compose;
mod containers;
mod database;
pub(super) mod migrate;
mod mounts;
mod provider;
mod provision;
mod secrets;

pub(in crate::effects) use mounts::shown;

use super::Program;
use super::call::Call;
use crate::effects::act::Act;
use crate::effects::invocation::Outcome;

/// The program of this family with a name.
pub(super) fn family(name: &str) -> Option<Program> {
    Some(match name {
        "docker" | "podman" | "nerdctl" | "finch" | "lima-docker" => containers::outcome,
        "docker-compose" | "podman-compose" => compose::outcome,
        "kubectl" | "oc" | "k3s" | "microk8s" | "kubecolor" | "minikube-kubectl" => cluster::kubectl,
        "helm" | "helmfile" | "argocd" | "flux" | "eksctl" | "k9s" | "kustomize" | "istioctl" | "linkerd"
        | "velero" | "restic" | "borg" | "kopia" | "kops" | "kubeadm" | "minikube" | "kind" | "k3d"
        | "skaffold" | "tilt" | "talosctl" | "rke" | "k0s" | "k0sctl" => cluster::others,
        "terraform" | "tofu" | "terragrunt" | "cdktf" => provision::terraform,
        "pulumi" | "cdk" | "sls" | "serverless" | "sam" | "copilot" | "vagrant" | "packer" | "virsh"
        | "VBoxManage" | "vboxmanage" | "qm" | "pct" | "lxc" | "lxc-destroy" | "incus" | "multipass"
        | "limactl" | "colima" | "govc" | "nova" | "openstack" | "amplify" | "sst" | "nomad" | "juju" => {
            provision::outcome
        }
        "ansible" | "ansible-playbook" | "salt" | "salt-call" | "salt-ssh" | "knife" | "puppet"
        | "chef-client" | "fab" => provision::ansible,
        "aws" | "gcloud" | "gsutil" | "bq" | "az" | "doctl" | "heroku" | "fly" | "flyctl" | "vercel"
        | "netlify" | "firebase" | "supabase" | "wrangler" | "railway" | "render" | "linode-cli"
        | "hcloud" | "scw" | "ibmcloud" | "oci" | "aliyun" | "cf" | "eb" | "ecs-cli" | "neonctl" | "neon"
        | "pscale" | "planetscale" | "turso" | "upstash" | "cloudflared" | "ngrok" | "civo" | "vultr-cli"
        | "exo" | "dokku" | "kamal" | "cap" | "mongocli" | "atlas" | "confluent" | "databricks" | "azd"
        | "tccli" | "nodetool" | "auth0" | "okta" | "stripe" | "sentry-cli" | "surge" | "now" => {
            provider::outcome
        }
        "psql" | "pgcli" | "mysql" | "mariadb" | "mycli" | "sqlite3" | "sqlite" | "litecli" | "duckdb"
        | "sqlcmd" | "bcp" | "sqlplus" | "clickhouse-client" | "clickhouse" | "cqlsh" | "usql" | "trino"
        | "presto" | "hive" | "beeline" | "snowsql" | "snow" | "spark-sql" | "impala-shell" | "vsql"
        | "cockroach" | "isql" | "osql" | "tsql" | "crate" | "dropdb" | "dropuser" | "createdb"
        | "createuser" | "pg_restore" | "pg_dump" | "pg_dumpall" | "mysqladmin" | "mysqldump"
        | "mariadb-dump" | "mariadb-admin" | "mysqlimport" | "pg_resetwal" | "initdb" | "pg_ctl"
        | "pg_dropcluster" => database::sql,
        "mongo"
        | "mongosh"
        | "redis-cli"
        | "valkey-cli"
        | "keydb-cli"
        | "influx"
        | "etcdctl"
        | "consul"
        | "kafka-topics.sh"
        | "kafka-topics"
        | "kafka-delete-records.sh"
        | "kafka-consumer-groups.sh"
        | "kafka-consumer-groups"
        | "kafka-delete-records"
        | "kafka-configs.sh"
        | "kafka-configs"
        | "celery"
        | "rq"
        | "hdfs"
        | "hadoop"
        | "dbt"
        | "rabbitmqctl"
        | "rabbitmqadmin"
        | "curator"
        | "elasticdump"
        | "mongorestore"
        | "mongodump"
        | "nats"
        | "zkCli.sh"
        | "cypher-shell"
        | "memcached-tool"
        | "couchbase-cli"
        | "riak-admin" => database::others,
        "rails" | "rake" | "alembic" | "liquibase" | "flyway" | "sequelize" | "sequelize-cli" | "prisma"
        | "knex" | "typeorm" | "drizzle-kit" | "mix" | "dbmate" | "goose" | "migrate" | "sqlx" | "diesel"
        | "artisan" | "django-admin" | "flask" | "phinx" | "doctrine" | "atlas-migrate" | "mikro-orm"
        | "medusa" | "strapi" | "directus" | "hasura" | "ecto" | "sea-orm-cli" | "tern" | "sqitch" => {
            migrate::outcome
        }
        "gpg" | "gpg2" | "pass" | "gopass" | "op" | "bw" | "rbw" | "lpass" | "vault" | "bao" | "security"
        | "secret-tool" | "ansible-vault" | "gcore" | "keyring" | "sops" | "age" | "doppler"
        | "infisical" | "aws-vault" | "chamber" | "keepassxc-cli" | "kwallet-query" | "dashlane"
        | "berglas" | "1password" | "cmdkey" | "getent" | "history" => secrets::outcome,
        _ => return None,
    })
}

/// What is destroyed on the other side.
fn destroys(operation: impl Into<String>) -> Act {
    Act::Infrastructure { operation: operation.into(), destroys: true }
}

/// What is changed there, and can be changed back.
fn changes(operation: impl Into<String>) -> Act {
    Act::Infrastructure { operation: operation.into(), destroys: false }
}

/// Whether it only says what it would do.
fn is_rehearsal(call: &Call<'_>) -> bool {
    call.words().any(|word| {
        matches!(
            word,
            "--dry-run"
                | "--dryrun"
                | "--dry-run=client"
                | "--dry-run=server"
                | "--check"
                | "--what-if"
                | "-WhatIf"
                | "--noop"
                | "--diff-only"
                | "--no-execute-changeset"
        )
    })
}

/// Nothing that matters, or what was found.
fn or_harmless(mut outcome: Outcome) -> Outcome {
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

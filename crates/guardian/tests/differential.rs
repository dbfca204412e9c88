//! Whatever bash does with a script is named by the guardian, or it says that it cannot know.
//!
//! `cargo run -p belljar-guardian --example differential -- --seconds 600` tries scripts nobody has tried for ten minutes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that runs bash and fails on what it cannot run"
)]

#[path = "differential/mod.rs"]
mod harness;

/// Scripts that are tried each time.
const SCRIPTS: u64 = 400;
/// Scripts that share a sandbox.
const BATCH: usize = 200;

/// Scripts of which something was missed once.
const MENDED: [&str; 163] = [
    "declare -r k;k=1 bash -c 'c0$k'",
    "readonly k=5; k=1 v=2 bash -c 'c1 \"$k$v\"'; k=1 eval 'c2 $k'",
    "echo 'set -- m4 n' > s2; set -- a; . s2 b c; c1 \"$1\"",
    "echo 'fn() { set -- m4; }; fn; shift' > s2; set -- a b; . s2 p q; c1 \"$1\"",
    "declare -A map=([k]='' [l]=m)\nc3 \"${map[@]}\" \"${!map[@]}\"",
    "declare -A m=(x y z w)\nc1 \"${m[@]}\"",
    "0 || c4 \"$?\"",
    "v=(p)\n{ unset v\n} >&{,}\nc7 \"$v\"",
    "printf '%' || c9",
    "c9 $(echo $((=)))",
    "x=0$((1/0))\nc1 \"$x\"",
    "c2 $(echo ~nobodyiscalledso)",
    "read arr <<< :~\nc3 \"$arr\"",
    "c7 \"$(awk '{print\"z\"')\"",
    "c5\"$(awk 'BEGIN{print\"z\">\"o1\"}')\"",
    "printf b\\\\ | xargs -I% c0 %",
    "cd -; ln -s d0 l2; touch l2/n",
    "v=k\nread '' v <<< z\nc1\"$v\"",
    "readonly w={1..3}\nc2 \"$w\"",
    "declare w={1..3}\nc2 \"$w\"",
    "x=a\\'\n: >&$x",
    "while read -r l; do c6 \"$l\"; done < <(printf '\\n')",
    "printf a | { read -r l || c1 \"$l\"; }",
    "set -0; c2 $?",
    "set -o noclobber; echo l > f0; c1 $?",
    "set -C; echo l > f0 || c1",
    "shopt -s expand_aliases\nalias go='c7 ' t=tt\ngo t",
    "echo 'c3 env' > s3; BASH_ENV=s3 bash -c ':'",
    ". $(c4;c5)a",
    "v=<(c1)> >(c2)\nc4 d$v",
    "mkdir -p \"$D\"/1/2",
    "arr=([1]=q);cmd=(c4);cmd+=(''${arr[@]:1});\"${cmd[@]}\"",
    "no; c1 | c2 $?",
    "x=\nuntil \"$x\";do $(echo c8) \"$?\";break;done",
    "trap 'c8' ERR; cd && no; cd ..",
    "set -E; trap 'c3 err $?' ERR; fn() { false; }; fn; ( exit 4 )",
    "read d '' v <<< k; c2${v@Q}",
    "find -print0 | xargs -0 rm",
    "gzip > ~/m4.gz; gzip -d ~/m4.gz",
    "ln -s d0 l6; ln -s l6 l7; rm -rf l7/",
    "set -a; k=0; env -uk bash -c 'c0 ${k-none}'; env -i PATH=/stubs bash -c 'c1 ${k-none}'",
    "mv -b f1 f0",
    "install -D f0 n0/n1/o",
    "perl -i.old -ne 'print if /a/' f0",
    "xargs -d , c3 <<< a,b",
    "echo 'BEGIN{print>\"o1\"}' > p.awk; awk -f p.awk; echo 'w o2' > p.sed; sed -f p.sed f0",
    "find -exec sh -c 'rm -f \"$1\"' _ {} \\;",
    "declare -n it; for it in w x; do it=k; done; c5 $x",
    "zip -q p f0",
    "c0 {,}~ {a,}~/k x{=,}~",
    "read a b <<< 'x\\ y z'; c9 \"$a\" \"$b\"; read c d <<< $'p\\\\\nq r'; c8 \"$c\" \"$d\"",
    "declare -a 'a=(1 \"2 3\" $(c4))'; c3 \"${a[@]}\"",
    "fn() { c5 d \"$1\"; }; eval \"$(declare -f fn | sed s/fn/gn/)\"; gn k",
    "fn() { c8 d; c7 e f; }; bash -c \"$(declare -f fn); fn\"",
    "echo 'c7 hi' > tool; chmod +x tool; PATH=$PWD:$PATH; tool; PATH=.:$PATH tool",
    "echo k > $nope; c3 $?; : < nofile; c2 $?",
    "coproc CP { c1 a; read -r l; echo \"r$l\"; }; echo k >&\"${CP[1]}\"; read -r l <&\"${CP[0]}\"; c1 \"$l\"",
    "set -o pipefail; false | true || c2 pf; set +o pipefail; false | true && c1 np",
    "mkdir -p a/b; ln -s a/b l; cd -P l/..; touch m; c5 m",
    "mkdir -p a/b; touch a/k; ln -s a/b l; rm l/../k; echo z > l/../o; cd l; touch ../n",
    "find . -name g1 -execdir rm {} +",
    "find d0 -name g0 -delete -o -name g1 -exec c8 {} \\;",
    "find . \\( -name f0 -o -name f1 \\) -exec cp {} d0 \\;",
    "set -k; c8 a v=k b",
    "enable -n pwd; pwd > o2",
    "echo 'c7 k' | xargs -0 -I% bash -c %",
    "awk 'BEGIN { while ((\"echo k\" | getline l) > 0) print l > \"o1\"; if (1) print \"k\" > \"o2\" }'",
    "f='c3 $1'; eval \"g() { $f; }\"; g '\\f*'",
    "echo '' > s4; sed 's/alpha/c5/' f0 > s4; bash s4",
    "declare -r k; read k l <<< 'a b'; c2 \"$l\"",
    "sh -c 'c1 k=~'",
    "c5 ~-0 ~+0 ~0",
    "no; case a in *) c1 \"$?\";; esac; no; case a in a) ;; esac; c2 $?",
    "l=; let l=k*3; c$l",
    "trap 'c0' EXIT; trap 'cd d0' USR1; trap cd .",
    "exec 3<> f0; read <&3; echo >&3; exec 5< f0; read l <&5; c1 \"$l\"",
    "echo k >> f0; read l < f0; c1 \"$l\"; echo z | tee -a f1; read m < f1; c2 \"$m\"",
    "set -C; echo z > f0; read -r b < f0; c6 \"$b\"",
    "false; eval; c0 $?; false; source /dev/null; c1 $?",
    "for ((i = 0; i < 2; i++)); do nope; done; c8 $?",
    "i=0; while ((i++ < 1)); do false; done; c1 $?; until true; do :; done; c2 $?",
    "false; for i in; do :; done; c1 $?",
    "for i in $nope; do v=z; done; c0 \"$v\"",
    "shopt -s nullglob; for i in nope*; do v=z; done; c0 \"$v\"",
    "exec < nofile; c9 $?",
    "echo >&-; c1 $?",
    "(trap ''); c2 $?; (trap '' T); c3 $?",
    "fn() { local -; set -f; }; fn; c2 *",
    "shopt -s nocasematch; k=A; c4 \"${k/a}\"",
    "declare -; c3 $?; declare 1; c0 $?; local; c1 $?; alias e; c2 $?",
    "d=$(mktemp .); touch \"$d\"; d=$(mktemp -d -p .); touch \"$d/k\"",
    "c2 ${nope:+\"\"} \"${nope[@]}\"",
    "readonly k; unset k; c0 $?",
    "exec 9<&-; { :; } >&9; c9 $?",
    "set -e; trap 'c0 $?' EXIT; ( exit 4 ); declare",
    "( trap 'exit 3' EXIT ); c3 $?",
    "set -e; trap 'c9' EXIT; ( exit 4 ); pushd d0",
    "set -e; trap 'c3\"$v\"' EXIT; nope; v=k",
    "for i in 1 2; do trap 'c1 $?' EXIT; ( exit $i ); done",
    "'' 2>&1 > o2 | while read; do c2; done; nope 2>&1 > o3 | while read; do c3; done",
    "trap 'c0$?' EXIT; for 1; do :; done",
    "arr=(); c3 ${arr[@]@A}",
    "read a; declare -a a; c7 \"${a[@]}\"",
    "echo 'c9 \"$*\"' > s1; source s1 k $nope",
    "arr[-1]=k; c8 \"${arr[@]}\"",
    "arr=(*); c7 \"${arr[@]/}\"",
    "declare -~; c6 $?",
    "set -e; trap c6 EXIT; nope; trap - EXIT",
    "v=; v=${v::-}k; c2 \"$v\"",
    "sh -c 'c1 \"${*: -1}\" \"$0\"'; bash -c 'c2 \"$0\"'; env bash -c 'c3 \"${@:0}\"'",
    "x=f0; readonly v; v=3; x=f1\nrm $x",
    "x=f0; fn() { local x=f1; readonly v; v=3; }; fn; x=e.txt\nrm $x",
    "cd d0; readonly v; eval 'v=3; cd ..'; touch here",
    "x=f0; : ${v:=abc} ${v:2:-2}; x=e.txt\nrm $x",
    "x=f0; c1 \"${@::$#-1}\"; x=e.txt\nrm $x",
    "x=f0; arr[-9]=1; x=e.txt\nrm $x",
    "x=f0; arr[]=1; x=e.txt\nrm $x",
    "x=f0; k='1 2'; : ${!k}; x=e.txt\nrm $x",
    "shopt -s failglob; x=f0; : nope*; x=f1\nrm $x",
    "( : ${nope:?x} ) || c1; set -u; ( echo $nope ) || c2",
    "readonly v; for v in 1 2; do x=f1; done; c1 \"$x\"; ((v = 3)); c2 $?; printf -v v k; c3 $?",
    "readonly v=a; fn() { local v=3; c1 $v; }; fn; declare -n r=r; c2 $?; unset 1x; c3 $?",
    "for ((i = 0; i < 1/0; i++)); do :; done; c1 $?; fn() { return 1+; }; fn; c2 $?",
    "x=f0; { x=e.txt; } < nofile; rm $x; : > /nodir/k && x=f1; c1 $x",
    "unset n; c1 > ${n:=o1}; rm ${n:-f0}; n=0; c2 <<< $((n++)); c3 $n",
    "k=$(echo d0/*); rm ./$k; touch g$(echo f*)y",
    "set -- f*; touch d0/\"$@\"; k=\"$*\"; touch d0/$k; printf -v k '%s ' e*; touch d0/$k.o",
    "c1 $(echo \"f[[:digit:]]\"); k='[f'; c2 $k]0; k='!e'; c3 [$k]*",
    "shopt -s extglob nocaseglob; k='@(f0|f1)'; c1 $k; c2 F*",
    "c1 ${!}; c2 {Z..a}; a=(1 2 3); c3 $((a[-1])); [ a; c4 $?; [ -R a ] || c5",
    "trap 'x=f1' USR1; x=f0; kill -USR1 $$; rm $x",
    "trap 'x=f1' DEBUG; x=f0; rm $x",
    "trap 'cd d0' ERR; false; touch n",
    "fn() { c3; }; readonly -f fn; fn() { c4; }; fn; unset -f fn; fn",
    "x=8 export x; c9 $x; set -o posix; x=a :; c2 $x; x=b eval :; c3 $x",
    "x='a/b:c]d'; c1 \"${x//[\\/:]/_}\" \"${x//[\"/:\"]/_}\"; [[ a/b == a[/]b ]] && c7; k=ab; case b in [$k]) c2;; esac",
    "k='[a'; case 'b' in $k-c]) c1;; esac; k=']'; case a in [a$k) c3;; esac",
    "set -- a '' 'b c' ''; IFS=-; c1 $*; c2 $@; c4 x$*y; x=$*; c6 \"$x\"; IFS=; x=$*; c1 \"$x\"",
    "r=r; fn() { local -n r=$1; c0 \"${r}\"; }; fn; shopt -s lastpipe; set -m; echo 7 | read x; c3 $x",
    "w=; c7 \"${w/*/z}\" \"${w/#/p}\" \"${nope/*/z}\"; shopt -s extglob; x=ab; c2 \"${x/*(q)/z}\"",
    "printf -v; c2 $?; printf -v y %q $'e\\n'; c4 \"$y\"; c5 \"${y@Q}\"; shopt -s xpg_echo; c6 \"$(echo 'a\\tb')\"",
    "BASH_CMDS[bar]=/stubs/c5; bar x; shopt -s expand_aliases; BASH_ALIASES[zz]='c1 y'\nzz a",
    "bash +B -c 'c2 {a,b}'; bash -k -c 'c3 a x=1'; bash -fc 'c4 *'; bash -O xpg_echo -c 'c5 \"$(echo \"a\\tb\")\"'",
    "v=''; w=$((v=5)) > o$v; c1 $v; : <(c2); c3 ${!+x}",
    "x=9; x=a$x x=b$x eval 'c6 $x'; k=1 l=$k bash -c 'c7 $l'",
    "declare -A h; h['a b']=1; h[a\\ c]=4; c1 \"${!h[@]}\" \"${h['a b']}\"; unset \"h['a b']\"; (( h['z']=4 )); c2 \"${!h[@]}\"",
    "logout; c3; mkdir -p a/b; ln -s a/b l; set -P; cd l; set +P; cd ..; c7",
    "set -e; trap 'c7 \"$v\"' EXIT; shopt -st; v=(k)",
    "builtin -z echo; c2 $?; unset -fv v; c3 $?; shopt -s nosuch || c4; export -z v; c5 $?; unalias -z; c6 $?",
    "l=0; l=1 declare -x l; c0 \"$l\"; fn() { local u; c6 ${u-un}; }; u=1 fn; v=0; v=1 printf -v v 7; c3 $v",
    "(read -t; c1 $?) < f0; mapfile -n; c3 $?; hash -p; c4 $?",
    "if ((v)); then ln -s b l; else ln -s d0 l; cd l; c8; fi",
    "mkdir a b; touch b/k; ln -s a l; ln -sfn b l; rm l/k; cd l; touch n; c1",
    "w='b '; case $w\"$@\" in b) c8;; esac; set -- 'k  l' m; [[ \"$@\"$w == 'k  l mb' ]] && c3",
    "v=$(set -e; false; echo k); c1 \"$v\"; set -e; fn() { false; echo k; }; fn | { read v || c2 \"$v\"; }",
    "trap 'c2 \"$v\"' EXIT; set -e; shopt -s inherit_errexit; v=$(e; echo k)",
    "nope; c3 \"$?\" <(c2) \"$?\"; nope; source <(echo 'c4 \"$?\"')",
    "exec 2>{,}; (c3 >&2); exec 5>{a,b}; c4 >&2",
    "0 && echo z > f0; read v < f0; c1 \"$v\"; 0 && echo w > s1; v=$(cat s1); c2 \"$v\"",
    "if c1; then echo a > s1; else echo b > s1; fi; read v < s1; c2 \"$v\"; 0 && echo c > s2; echo d >> s2; c3 $(< s2)",
    "0 && echo 'v=k' > s1; . s1 || c1; echo k > s2; rm s2; read v < s2 || c3 $v",
    "IFS=0; w=; c7 ${#w}$(echo 1) ${#nope}k",
    "< <(c0); c1 ${!}; c2 <(c3 ${!}) ${!:+k}; (c4 & ); c5 $!",
];

#[test]
fn what_was_missed_once_is_named() {
    let place = std::env::temp_dir().join(format!("belljar-mended-{}", std::process::id()));
    let scripts = MENDED.map(str::to_owned);
    for (script, told) in scripts.iter().zip(harness::told(&scripts, &place)) {
        assert!(!told.starts_with("Missed"), "{script}\n{told}");
    }
}

#[test]
fn what_bash_does_is_named_or_unknown() {
    let place = std::env::temp_dir().join(format!("belljar-differential-{}", std::process::id()));
    let mut tally = harness::Tally::default();
    for begin in (0..SCRIPTS).step_by(BATCH) {
        tally.add(harness::run(begin..begin + u64::try_from(BATCH).unwrap(), &place));
    }
    let shown: Vec<String> = tally
        .missed
        .iter()
        .take(3)
        .map(|(seed, script, what)| format!("seed {seed}: {}", harness::shortened(script, what, &place)))
        .collect();
    assert!(shown.is_empty(), "{} missed:\n{}", tally.missed.len(), shown.join("\n"));
    // Saying that nothing can be known is easy.
    assert!(
        tally.share_known() >= 70,
        "only {} of a hundred are known: {:#?}",
        tally.share_known(),
        tally.unknown
    );
    assert!(tally.passed < 30, "{} scripts were passed over", tally.passed);
}

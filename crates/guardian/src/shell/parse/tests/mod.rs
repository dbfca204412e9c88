//! What the reader makes of scripts, by kind of construct.

mod show;

use super::parse;

/// Checks what becomes of each script.
#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (script, expected) in rows {
        assert_eq!(show::script(&parse(script.as_bytes())), *expected, "{script:?}");
    }
}

#[test]
fn ordinary_commands() {
    check(&[
        ("", ""),
        ("ls", "ls"),
        ("ls -l  /tmp # all", "ls -l /tmp"),
        ("a; b\nc", "list(a; b;) ;; c"),
        ("a && b || c & d", "list(a && b || c & d;)"),
        ("a | b |& c", "pipe(a | b 2>&1 | c)"),
        ("! a | b", "!pipe(a | b)"),
        ("! ! a", "pipe(a)"),
        ("time -p a", "pipe(a)"),
        ("a | time b", "pipe(a | time b)"),
        ("x=1 y+=2 c z=3", "x=1 y+=2 c z=3"),
        ("a\\\n b", "a b"),
        ("a\\\nb", "ab"),
    ]);
}

#[test]
fn quotes() {
    check(&[
        ("c 'a b'\"c $x\"d\\ e", "c 'a bc '\"${x}\"d' 'e"),
        ("c $'\\x41\\u00e9\\n\\101\\cA\\'' $\"x\"", "c 'A\\xc3\\xa9\\nA\\x01\\'' 'x'"),
        ("c ''", "c ''"),
        ("c \"a\\$b\\c\"", "c 'a$b\\\\c'"),
        ("c \"a\\\nb\"", "c 'ab'"),
        ("c 'a\\\nb'", "c 'a\\\\\\nb'"),
    ]);
}

#[test]
fn parameters() {
    check(&[
        ("c $x$1$@ ${y}", "c ${x}${1}${@} ${y}"),
        ("c ${x:-$(d)} ${x/a\\/b/e}", "c ${x:-$(d)} ${x/a'/'b/e}"),
        ("c ${#x} ${!x} ${!x@} ${#} ${##}", "c ${x length} ${x indirect} ${x names} ${#} ${# length}"),
        ("c ${a[$(d)]} ${a[@]:1:2}", "c ${a[$(d)]} ${a[@]:'1':'2'}"),
        ("c ${x##*/} ${x%%.*} ${x^^} ${x@Q}", "c ${x##glob<*>/} ${x%%.glob<*>} ${x^^} ${x@Q}"),
        ("c \"${x:-'$(d)'}\"", "c \"${x:-'\\''\"$(d)\"'\\''}\""),
        ("c \"${x#'$(d)'}\"", "c \"${x#'$(d)'}\""),
        ("c ${x!}", "c ?Expansion"),
    ]);
}

#[test]
fn substitutions() {
    check(&[
        ("c $(d | e; f)", "c $(list(pipe(d | e); f;))"),
        ("c `d \\`e\\``", "c $(d $(e))"),
        ("c $((1 + $(d)))", "c $(('1 + '\"$(d)\"))"),
        ("c $((d); e)", "c $(list(sub(d); e;))"),
        ("c $((d) )", "c $(sub(d))"),
        ("c <(d) >(e) a<(f)", "c <(d) >(e) a<(f)"),
        ("c $(case x in a) d;; esac)", "c $(case(x a) d Break))"),
        ("c $()", "c $()"),
    ]);
}

#[test]
fn redirections() {
    check(&[
        ("c > a b", "c b >a"),
        ("c 2>&1 >|f >>g <h <>i &>j &>>k >&l", "c 2>&1 >|f >>g <h <>i &>j &>>k &>l"),
        ("c {fd}>f {fd[0]}>g", "c {fd}>f {fd[0]}>g"),
        ("c 2>&- <&3-", "c 2>&- <&3-"),
        ("c <<<$x", "c <<<${x}"),
        (">f", ">f"),
        ("c 2 >f", "c 2 >f"),
        ("{ c; } >f 2>&1", "group(c) >f 2>&1"),
    ]);
}

#[test]
fn here_documents() {
    check(&[
        ("c <<E; d\nx $y\nE\ne", "list(c <<['x '\"${y}\"'\\n']; d;) ;; e"),
        ("c <<'E'\n$x\nE\n", "c <<'['$x\\n']"),
        ("c <<-E\n\t\ta\n\tE\nd", "c <<-['a\\n'] ;; d"),
        ("c <<E\na\nE\r\nE \n E\n", "c <<['a\\nE\\r\\nE \\n E\\n']"),
        ("c <<$'E'\na\nE\nd", "c <<'['a\\n'] ;; d"),
        ("c <<E\na\\\nE\nE\nd", "c <<['aE\\n'] ;; d"),
        ("c <<A <<B\n1\nA\n2\nB\nd", "c <<['1\\n'] <<['2\\n'] ;; d"),
        ("c $(d <<E\nx\nE\n) e", "c $(d <<['x\\n']) e"),
        ("c $(d <<E) e\nx\nE\nf", "c $(d <<['x\\n']) e ;; f"),
        ("c <<E\n$(d)`e`\nE", "c <<[\"$(d)\"\"$(e)\"'\\n']"),
        ("c <<E\na", "c <<['a\\n']"),
        ("if c <<E; then\na\nE\nd; fi", "if(c <<['a\\n'] then d)"),
        ("c \"$(d <<E\na \" b\nE\n)\"", "c \"$(d <<['a \\\" b\\n'])\""),
    ]);
}

#[test]
fn compound_commands() {
    check(&[
        ("if a; then b; elif c; then d; else e; fi", "if(a then b elif c then d else e)"),
        ("while a; do b; done <f", "while(a do b) <f"),
        ("until a\ndo b\ndone", "until(a do b)"),
        ("for x in a b; do c; done", "for(x in Some(\"a b\") do c)"),
        ("for x do c; done", "for(x in None do c)"),
        ("for ((i=0; i<3; i++)) { c; }", "for(('i=0';' i<3';' i++') do c)"),
        ("select x in a; do c; done", "select(x in Some(\"a\") do c)"),
        ("case $x in (a|b*) c;; *) d ;& esac", "case(${x} a|bglob<*>) c Break glob<*>) d FallThrough)"),
        ("{ a; b; }", "group(list(a; b;))"),
        ("(a; b)", "sub(list(a; b;))"),
        ("((a); b)", "sub(list(sub(a); b;))"),
        ("((1 + $(c)))", "(('1 + '\"$(c)\"))"),
        ("f() { a; } >x", "def(f group(a) >x)"),
        ("function f { a; }", "def(f group(a))"),
        ("function f () (a)", "def(f sub(a))"),
        ("f() [[ a ]]", "def(f [[a]])"),
        ("coproc x { a; }", "coproc(x group(a))"),
        ("coproc a b", "coproc( a b)"),
        ("[[ -f a && ! b == c* || ( d =~ (e|f) ) ]]", "[[((-f a && !b == cglob<*>) || d =~ (e|f))]]"),
    ]);
}

#[test]
fn what_came_before_an_error_is_kept() {
    check(&[
        ("a\nb; )\nc", "a ;; ?Syntax"),
        ("a\n\"b", "a ;; ?Syntax"),
        ("fi", "?Syntax"),
        ("{ }", "?Syntax"),
        ("a;;b", "?Syntax"),
        ("c $(fi)", "?Syntax"),
        ("c `fi`", "c $(?Syntax)"),
        ("a\0b", "?Nul"),
    ]);
}

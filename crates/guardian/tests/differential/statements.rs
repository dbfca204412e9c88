//! Statements: lists, pipes, loops, cases, functions, here-documents, traps, aliases, coprocesses.

use super::maker::{Maker, single};

impl Maker {
    pub(crate) fn statement(&mut self) -> String {
        if self.depth > 3 || self.quoted > 0 {
            return self.simple();
        }
        match self.dice.roll(32) {
            0..=5 => self.simple(),
            6 | 7 => self.list(),
            8..=10 => self.compound(),
            11 => self.function(),
            12 | 13 => self.document(),
            14 | 15 => self.odd(),
            16 => self.sly(),
            17 => self.stored(),
            18 => self.streamed(),
            19 => self.shadowed(),
            _ => self.filled(),
        }
    }

    fn list(&mut self) -> String {
        match self.dice.roll(8) {
            0 => format!("{} && {}", self.condition(), self.simple()),
            1 => format!("{} || {}", self.condition(), self.simple()),
            2 => format!("{} | {}", self.simple(), self.simple()),
            3 => format!("{}; {} & wait", self.simple(), self.simple()),
            4 => format!("! {} && {} || {}", self.condition(), self.simple(), self.simple()),
            5 => format!("{} |& {}", self.simple(), self.simple()),
            6 => format!("time {}", self.simple()),
            _ => format!("{} | while read -r l; do {} \"$l\"; done", self.simple(), self.marker()),
        }
    }

    fn compound(&mut self) -> String {
        let name = self.name();
        match self.dice.roll(14) {
            0 => format!("if {}; then\n{}\nelse\n{}\nfi", self.condition(), self.body(), self.body()),
            1 => format!("for {name} in {}; do\n{}\ndone", self.words(), self.body()),
            2 => format!("for ((i=0; i<2; i++)); do\n{} $i\ndone", self.marker()),
            3 => {
                format!("n=0; while [ $n -lt 2 ]; do n=$((n+1)); {} $n\n{}\ndone", self.marker(), self.body())
            }
            4 | 5 => format!(
                "case {} in\na*|b) {} ;;\n{}) {} {}\n*) {} ;;\nesac",
                self.word(),
                self.simple(),
                self.dice.pick(&["[0-9]", "''", "x*", "\"*\"", "$v", "[[:alpha:]]*"]),
                self.simple(),
                self.dice.pick(&[";;", ";&", ";;&"]),
                self.simple()
            ),
            6 | 7 => format!("( {}\n){}", self.body(), self.redirection()),
            8 => format!("{{ {}\n}}{}", self.body(), self.redirection()),
            9 => format!("until {}; do {}; break; done", self.condition(), self.simple()),
            10 => format!(
                "for {name}; do {} \"${name}\"; {}; done",
                self.marker(),
                self.dice.pick(&["continue", "break", ":"])
            ),
            11 => format!("while read -r l; do {} \"$l\"; done < <(printf 'p q\\nr\\n')", self.marker()),
            12 => format!("select {name} in a b; do {} \"${name}\"; break; done <<< 2", self.marker()),
            _ => format!(
                "for f in {}; do {} \"$f\"{}; done",
                self.dice.pick(&["*", "f*", "d0/*", "$w"]),
                self.marker(),
                self.redirection()
            ),
        }
    }

    fn function(&mut self) -> String {
        let name = self.name();
        match self.dice.roll(7) {
            0 => format!("fn() {{ {}\n}}\nfn {}", self.body(), self.words()),
            1 => format!(
                "fn() {{ local {name}={}; {} \"$@\"; return {}; }}; fn {}; {} ${name}",
                self.literal(),
                self.marker(),
                self.dice.roll(2),
                self.words(),
                self.marker()
            ),
            2 => format!("function fn {{ {}; }}{}\nfn {}", self.simple(), self.redirection(), self.words()),
            3 => format!("fn() ( {}\n)\nfn {}; {} \"$v\"", self.body(), self.words(), self.marker()),
            4 => format!(
                "fn() {{ {} \"$1\"; }}; export -f fn; bash -c 'fn \"$@\"' _ {}",
                self.marker(),
                self.words()
            ),
            5 => format!("fn() {{ shift; [ $# -gt 0 ] && fn \"$@\"; {} $#; }}; fn a b c", self.marker()),
            _ => format!("c2() {{ command c2 wrapped \"$@\"; }}; c2 {}", self.words()),
        }
    }

    fn document(&mut self) -> String {
        self.documents += 1;
        let (end, marker) = (format!("E{}F", self.documents), self.marker());
        let quote = self.dice.pick(&["", "'", "\"", "\\"]).to_owned();
        let start = if quote == "\\" { format!("\\{end}") } else { format!("{quote}{end}{quote}") };
        let line = self.pick(&[
            "$v",
            "`echo r`",
            "$(echo q)",
            "\\$v",
            "a \\\nb",
            "${w#b}",
            "$((1+2))",
            "'$w'",
            "\"$w\"",
            "\\\\",
        ]);
        match self.dice.roll(9) {
            0 => format!("bash <<{start}\n{marker} {line}\n{end}"),
            1 => format!(
                "cat > s0 <<{start}\n{marker} \"$1\" {line}\n{end}\n{} s0 {}",
                self.dice.pick(&[".", "bash", "source"]),
                self.words()
            ),
            2 => format!("read -r -d '' v <<{start}\nh {line}\n  k\n{end}\n{marker} \"$v\""),
            3 => format!("sh -s {} <<-{start}\n\t{marker} \"$@\" {line}\n\t{end}", self.words()),
            4 => format!("cat <<{start} > {}\n{line} $({marker} in)\n{end}", self.target()),
            5 => format!("v=$(cat <<{start}\n{line}\n{end}\n)\n{marker} \"$v\""),
            6 => format!("while read -r l; do {marker} \"$l\"; done <<{start}\n{line}\nz\n{end}"),
            7 => format!("cat <<{start} | bash\n{marker} {line}\n{end}"),
            _ => format!("cat <<{start} - <<X{end}\n{line}\n{end}\n$({marker} second)\nX{end}"),
        }
    }

    fn odd(&mut self) -> String {
        let (name, marker) = (self.name(), self.marker());
        match self.dice.roll(14) {
            0 => format!("trap {} EXIT", single(&format!("{marker} t \"${name}\""))),
            1 => format!("trap '{marker} e' ERR; false"),
            2 => format!("shopt -s expand_aliases\nalias al='{marker} z'\nal {}", self.words()),
            3 => format!("alias al='{marker} z'; al\nal"),
            4 => format!("{} > >(cat > p0)", self.simple()),
            5 => format!("exec 4> o6\n{} >&4\nexec 4>&-", self.simple()),
            6 => format!("coproc {{ {marker} co; }}; wait"),
            7 => format!("f='{marker} $1'; eval \"g() {{ $f; }}\"; g {}", self.words()),
            8 => format!("mapfile -t -c 1 -C '{marker} cb' arr < f1"),
            9 => format!("v='arr[$({marker} sub)]'; (( v )); [[ $v -eq 0 ]]"),
            10 => format!("echo '{marker} \"$@\"' > s2; chmod +x s2; ./s2 {}", self.words()),
            11 => format!("{{ echo {marker} k; echo c3; }} | bash"),
            12 => format!("for n in 1 2; do echo \"{marker} $n\"; done | sh"),
            _ => format!("PS4='$({marker} ps4)'; set -x; : x; set +x"),
        }
    }

    pub(crate) fn condition(&mut self) -> String {
        let name = self.name();
        match self.dice.roll(14) {
            0 => {
                format!("[[ ${name} == {} ]]", self.dice.pick(&["a*", "\"a\"", "?", "[ab]*", "*", "@(a|b)"]))
            }
            1 => format!("[ -n \"${name}\" ]"),
            2 => format!("[[ -f {} ]]", self.dice.pick(&["f0", "nope", "o0"])),
            3 => format!("(( {} ))", self.arithmetic()),
            4 => "true".to_owned(),
            5 => "false".to_owned(),
            6 => format!("[[ ${name} =~ {} ]]", self.dice.pick(&["^a", "c$", "(a)(b)?"])),
            7 => format!("[[ -z ${name} || -d d0 ]]"),
            8 => format!("[ \"${name}\" = a ]"),
            9 => format!("test $# -gt {}", self.dice.roll(3)),
            10 => format!("! {}", self.marker()),
            11 => format!("[[ $({}) != x ]]", self.deeper(Self::simple)),
            12 => "read -r l < f0".to_owned(),
            _ => self.deeper(Self::simple),
        }
    }

    fn body(&mut self) -> String {
        self.deeper(|maker| {
            let count = 1 + maker.dice.roll(2);
            let all: Vec<String> = (0..count).map(|_| maker.statement()).collect();
            all.join("\n")
        })
    }
}

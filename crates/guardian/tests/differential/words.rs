//! Words: quotes, parameters with their operators, arithmetic, substitutions, braces, globs, tildes.

use super::maker::{Maker, dollar_single, double, single};

const PLAIN: [&str; 13] =
    ["a", "b1", "-x", "f0", "d0/g0", "a b", "*", "x=y", "e.txt", "..", "0", "7", "\u{e9}"];

impl Maker {
    /// Text in one of the ways it can be quoted.
    pub(crate) fn literal(&mut self) -> String {
        let text = self.dice.pick(&PLAIN);
        match self.dice.roll(8) {
            0 => single(text),
            1 => double(text),
            2 => dollar_single(text),
            3 => format!(
                "{}\\{}",
                self.dice.pick(&["a", "b"]),
                self.dice.pick(&["$", "*", "b", "\"", "'", "\\"])
            ),
            4 => self.pick(&["''", "\"\"", "$''", "''\"\"", "\\\nk"]),
            5 => format!("a\"{text}\"'b'"),
            _ => text.replace(' ', "_").replace('*', "q"),
        }
    }

    pub(crate) fn word(&mut self) -> String {
        if self.depth > 3 {
            return self.literal();
        }
        match self.dice.roll(46) {
            0..=9 => self.literal(),
            10..=20 => self.parameter(),
            21..=24 => self.array(),
            25 | 26 => format!("$(({}))", self.arithmetic()),
            27..=30 => self.substitution(),
            31 => self.pick(&[
                "{a,b}",
                "{1..3}",
                "x{p,q}y",
                "{a,{b,c}}",
                "{c..a}",
                "{01..03}",
                "{a,b}{1,2}",
                "{a}",
                "{1..5..2}",
                "{,z}",
                "{a,$v}",
                "\"{a,b}\"",
                "{a,'b c'}",
                "\\{a,b}",
                "${v}{1,2}",
                "{a..c}.txt",
                "{$v,b}",
            ]),
            32 | 33 => self.pick(&[
                "f*", "d0/*", "*.txt", "[ef]*", "nope*", "d?/g[01]", "./f0", "*", ".*", "f[!0]", "'f'*",
            ]),
            34 => self.pick(&["~", "~/a", "a:~", "'~'", "~+", "\\~"]),
            35 | 36 => {
                let (one, two) = (self.deeper(Self::word), self.deeper(Self::word));
                format!("{one}{two}")
            }
            37 => format!(
                "\"{}{}\"",
                self.dice.pick(&["", "a ", "-"]),
                self.pick(&["$v", "${w}x", "$1", "\\$v", "$(echo q)", "$((1+1))"])
            ),
            38 if self.quoted == 0 => format!("<({})", self.deeper(Self::simple)),
            39..=45 => self.filled_word(),
            _ => self.literal(),
        }
    }

    fn parameter(&mut self) -> String {
        let name = self.name();
        let text = match self.dice.roll(14) {
            0 | 1 => return format!("${name}"),
            2..=4 => return format!("\"${name}\""),
            5 => {
                let other = self.deeper(Self::word);
                let sign = self.dice.pick(&[":-", "-", ":+", "+", ":=", "=", ":?", "?"]);
                return format!("${{{name}{sign}{other}}}");
            }
            6 => {
                let sign = self.dice.pick(&[":-", "-", ":+", "+", ":="]);
                return format!("\"a${{{name}{sign}\"b c\"}}d\"");
            }
            7 | 8 => format!(
                "${{{name}{}}}",
                self.dice.pick(&[
                    "#a",
                    "##*b",
                    "%c*",
                    "%%b*",
                    "/a/b",
                    "//b/a",
                    "/#a/c",
                    "^",
                    "^^",
                    ",,",
                    ":1",
                    ":0:2",
                    ": -1",
                    "@Q",
                    "/%c/z",
                    "//[ab]/k",
                    "//[ab]/$x",
                    "/b*/\"$v\"",
                    "@U",
                    "@E",
                    ":$#:1",
                    "//?/x",
                    "#\"$v\"",
                    "%\"c\"",
                    "~~",
                    "@a",
                    ":1:-1",
                    "/ /",
                    "//\\b/",
                    "##[[:alpha:]]",
                ])
            ),
            9 => format!("${{#{name}}}"),
            10 => self.pick(&[
                "${!x-n}",
                "${!v}",
                "${!v*}",
                "${!v@}",
                "${v:-${w:-$x}}",
                "${u-unset}",
                "${u+set}",
            ]),
            11 => self
                .pick(&["$?", "$#", "$-", "${10}", "${#}", "$LINENO", "${#@}", "$PWD", "$OLDPWD", "$HOME"]),
            12 => self.pick(&["$@", "$*", "$1", "$2", "${@:2}", "${*:1:1}", "${@:-x}", "${1:+y}", "${@#t}"]),
            _ => {
                return self.pick(&[
                    "\"$@\"",
                    "\"$*\"",
                    "\"${@:2}\"",
                    "\"$@x\"",
                    "\"x$@\"",
                    "x\"$@\"y",
                    "\"${@%2}\"",
                ]);
            }
        };
        if self.dice.is_one_in(2) { format!("\"{text}\"") } else { text }
    }

    fn array(&mut self) -> String {
        let text = self.pick(&[
            "${arr[@]}",
            "${arr[*]}",
            "${arr[0]}",
            "${arr[1]}",
            "${arr[-1]}",
            "${arr[1+1]}",
            "${arr[$#]}",
            "${arr}",
            "${#arr[@]}",
            "${!arr[@]}",
            "${arr[@]:1}",
            "${arr[@]/q/z}",
            "${arr[@]^}",
            "${arr[@]:0:2}",
            "${arr[v]}",
            "${#arr[1]}",
            "${arr[9]-none}",
            "${arr[@]@Q}",
            "${arr[$(echo 1)]}",
            "${map[k]}",
            "${map[@]}",
            "${!map[@]}",
        ]);
        if self.dice.is_one_in(3) { text } else { format!("\"{text}\"") }
    }

    fn substitution(&mut self) -> String {
        let text = match self.dice.roll(8) {
            0 | 1 => format!("$( {})", self.deeper(Self::simple)),
            2 => format!("$(echo {})", self.deeper(Self::word)),
            3 if self.quoted == 0 => {
                self.pick(&["`echo a b`", "`echo \\$v`", "`echo \"$w\"`", "`echo f*`", "`c3 \\`echo k\\``"])
            }
            4 => self.pick(&["$(<f0)", "$(cat f1)", "$(< $x)", "$(c4; c5)", "$( (c4 k) )", "$(:)"]),
            5 => format!("$( {}; {})", self.deeper(Self::simple), self.deeper(Self::simple)),
            _ => self.pick(&[
                "$(printf '%s-' a b)",
                "$(echo -n x)",
                "$(echo -e 'a\\tb')",
                "$(printf %d 7)",
                "$(printf '%q' 'a b')",
                "$(pwd)",
                "$(printf '%03d' 5)",
                "$(printf %b 'x\\ny')",
                "$(echo \"$w\" | tr b k)",
                "$(echo zo | rev)",
                "$(basename d0/g0)",
                "$(dirname d0/g0)",
                "$(printf '%s\\n' a b | head -n 1)",
                "$(echo YzMgaGk= | base64 -d)",
                "$(seq 2)",
                "$(echo a | sed s/a/c2/)",
                "$(printf '\\x63\\063')",
                "$(printf '%x' 255)",
                "$(echo ${v^^})",
                "$(echo c7 | tee o9)",
            ]),
        };
        if self.dice.is_one_in(2) { format!("\"{text}\"") } else { text }
    }

    pub(crate) fn words(&mut self) -> String {
        let count = self.dice.roll(4);
        let words: Vec<String> = (0..count).map(|_| self.deeper(Self::word)).collect();
        words.join(" ")
    }

    pub(crate) fn arithmetic(&mut self) -> String {
        self.pick(&[
            "1+2",
            "n+1",
            "2*(3+4)",
            "7%4",
            "1<2",
            "arr[0]+1",
            "x=5",
            "n++",
            "w-=2",
            "1?8:9",
            "0x1f",
            "2**3",
            "10/3",
            "!0",
            "n,7",
            "$#+1",
            "8#17",
            "arr[$(c6; echo 0)]",
            "n<<2",
            "~1",
            "-7/2",
            "n=n+1,n*2",
            "1&&0",
            "++n",
            "$(echo 3)+1",
            "${#w}",
            "v",
        ])
    }

    /// A file to write to.
    pub(crate) fn target(&mut self) -> String {
        self.pick(&[
            "o0",
            "o1",
            "d0/o2",
            "f0",
            "\"o 3\"",
            "$v.o",
            "\"${w:-o4}\"",
            "o5{,x}",
            "e.txt",
            "$'o\\x37'",
            "./d0/../o8",
            "~/oh",
            "$x",
        ])
    }
}

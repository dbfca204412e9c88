//! Commands without structure of their own: markers, assignments, builtins, programs that touch files, wrappers, shells.

use super::maker::{Maker, double, single};

impl Maker {
    pub(crate) fn redirection(&mut self) -> String {
        if !self.dice.is_one_in(3) {
            return String::new();
        }
        let target = self.target();
        match self.dice.roll(16) {
            0 | 1 => format!(" > {target}"),
            2 => format!(" >> {target}"),
            3 => format!(" &> {target}"),
            4 => format!(" 2> {target}"),
            5 => format!(" >| {target} 2>&1"),
            6 => format!(" 3> {target} >&3"),
            7 => " < f0".to_owned(),
            8 => " <<< \"h $v\"".to_owned(),
            9 => format!(" <> {target}"),
            10 => format!(" &>> {target}"),
            11 => format!(" >& {target}"),
            12 => format!(" {{fd}}> {target}"),
            13 => format!(" 2>&1 > {target}"),
            14 => " < <(echo in)".to_owned(),
            _ => format!(" > {target} < e.txt"),
        }
    }

    /// A command without any structure.
    pub(crate) fn simple(&mut self) -> String {
        match self.dice.roll(20) {
            0..=6 => self.marked(),
            7..=9 => self.assignment(),
            10..=12 => self.builtin(),
            13..=15 => self.filing(),
            16 | 17 => self.wrapper(),
            _ => self.shell(),
        }
    }

    /// A marker, its name written in some way, with words.
    fn marked(&mut self) -> String {
        let marker = self.marker();
        let name = match self.dice.roll(14) {
            0 => format!("\"c\"$'{}'", marker.trim_start_matches('c')),
            1 => format!("c\\{}", marker.trim_start_matches('c')),
            2 => format!("${{u-{marker}}}"),
            3 => format!("$(echo {marker})"),
            4 => return format!("v={marker}; \"$v\" {}", self.words()),
            5 => return format!("arr=({marker} k 'l m'); \"${{arr[@]}}\" {}", self.words()),
            6 => format!("/stubs/{marker}"),
            7 => return format!("$v {}", self.words()),
            8 => format!("{}={} {marker}", self.name(), self.deeper(Self::word)),
            _ => marker,
        };
        format!("{name} {}{}", self.words(), self.redirection())
    }

    fn assignment(&mut self) -> String {
        let name = self.name();
        match self.dice.roll(14) {
            0..=3 => format!("{name}={}", self.deeper(Self::word)),
            4 => format!("{name}+={}", self.deeper(Self::word)),
            5 => format!("arr=({})", self.words()),
            6 => format!(
                "arr[{}]={}",
                self.dice.pick(&["0", "1", "3", "n", "-1", "$#"]),
                self.deeper(Self::word)
            ),
            7 => format!("arr+=({})", self.words()),
            8 => format!("declare -A map=([k]={} [l]=m)", self.deeper(Self::word)),
            9 => self.pick(&[
                "map[k]=z",
                "n=1",
                "n=$((n+1))",
                "v=$w x=$v",
                "IFS=: ",
                "IFS=b",
                "IFS=",
                "IFS=' '",
                "unset IFS",
                "unset v",
                "unset 'arr[1]'",
            ]),
            10 => format!("printf -v {name} '%s.' {}", self.words()),
            11 => format!("read -r {name} w <<< {}", self.deeper(Self::word)),
            12 => format!("mapfile -t arr <<< $'m1\\nm 2\\n{}'", self.dice.pick(&["", "z"])),
            _ => format!("read -ra arr <<< {}", self.deeper(Self::word)),
        }
    }

    fn builtin(&mut self) -> String {
        let name = self.name();
        match self.dice.roll(16) {
            0 | 1 => format!("echo {}{}", self.words(), self.redirection()),
            2 => format!("printf '%s\\n' {}{}", self.words(), self.redirection()),
            3 => format!(
                "{} {name}={}",
                self.dice.pick(&[
                    "declare",
                    "export",
                    "declare -i",
                    "declare -u",
                    "typeset",
                    "declare -l",
                    "readonly"
                ]),
                self.deeper(Self::word)
            ),
            4 => format!("set -- {}", self.words()),
            5 => self.pick(&[
                "shift",
                "set -f",
                "set +f",
                "shopt -s nullglob",
                "shopt -s extglob",
                "set -u",
                "shopt -s dotglob",
                "set -e",
                "set -C",
                "shopt -s failglob",
                "set -o pipefail",
                "shopt -s globstar",
                "shopt -s nocaseglob",
                "set +B",
                "shopt -s lastpipe",
                "set -a",
                "declare -n r=v; r=ref",
                "unset -f fn",
                "shopt -s nocasematch",
                "set -x",
            ]),
            6 | 7 => format!(
                "cd {}",
                self.dice.pick(&[
                    "d0",
                    "..",
                    "d0/..",
                    "-",
                    "",
                    "\"$OLDPWD\"",
                    "./d0",
                    "d0 && c0",
                    "$PWD/d0",
                    "-P d0"
                ])
            ),
            8 => self.pick(&["pushd d0", "popd", "pushd", "cd d0 && cd ..", "cd d0 || c1"]),
            9 => format!("let '{}'", self.arithmetic()),
            10 => format!("(( {} ))", self.arithmetic()),
            11 => format!(": {}{}", self.words(), self.redirection()),
            12 => format!(
                "builtin {} {}",
                self.dice.pick(&["echo", "printf '%s' x", "eval 'c9 b'"]),
                self.words()
            ),
            13 => format!(
                "{}{}",
                self.dice.pick(&["", "exec 5>&1", "exec 3< f0", "exec 2> o7"]),
                self.redirection()
            ),
            14 => self.pick(&[
                "hash -p /stubs/c8 c2; c2 h",
                "type c0",
                "command -v c1",
                "wait",
                "getopts ab v -a",
                "times",
            ]),
            _ => format!("printf '{}' {}", self.dice.pick(&["%s", "%s %s\\n", "%d", "c4 %s"]), self.words()),
        }
    }

    fn filing(&mut self) -> String {
        match self.dice.roll(18) {
            0 => format!("touch {}", self.target()),
            1 | 2 => format!(
                "rm -f {}",
                self.dice.pick(&[
                    "f0",
                    "e.txt",
                    "d0/g0",
                    "*.txt",
                    "d0/*",
                    "\"$x\"",
                    "o0",
                    "-- f1",
                    "$(echo f1)",
                    "f{0,1}",
                    "./f?"
                ])
            ),
            3 => self.pick(&["rm -rf d0", "rm -r n0", "rmdir n0", "unlink f1", "rm -rf -- d0/*", "rm f*"]),
            4 => format!("mkdir -p {}", self.dice.pick(&["n0", "n1/n2", "d0/n3", "n{4,5}"])),
            5 => format!("cp f0 {}", self.target()),
            6 => format!(
                "mv {} {}",
                self.dice.pick(&["f1", "e.txt", "d0/g1"]),
                self.dice.pick(&["m0", "d0", "m1", "$v"])
            ),
            7 => format!("{} | tee {}", self.deeper(Self::simple), self.target()),
            8 => format!(
                "cat {}{}",
                self.dice.pick(&["f0", "d0/g0", "-", "e.txt", "f*", "f0 f1", "\"$x\"", "d0/*"]),
                self.redirection()
            ),
            9 => self.pick(&[
                "ln -s f0 l0",
                "ln f0 l1",
                "ln -sf d0 l2; touch l2/in",
                "ln -s f1 l3; cat l3",
                "ln -s o9 l4; echo k > l4",
            ]),
            10 => self.pick(&[
                "sed -i s/a/b/ f0",
                "sed -n p f1",
                "sed -e 'w o6' f0",
                "sed 's/a/c/' f0 > o1",
                "sed -i.bak d e.txt",
            ]),
            11 => self.pick(&[
                "truncate -s 0 f0",
                "dd if=f0 of=o2 status=none",
                "head -n 1 f1",
                "tail f0",
                "sort -o o3 f1",
                "split f1 sp",
                "install f0 o4",
            ]),
            12 => self.pick(&[
                "grep a f0",
                "grep -r g .",
                "grep -l a *",
                "wc -l < f0",
                "awk '{print}' f0",
                "awk 'BEGIN{print \"z\" > \"o5\"}'",
                "tac f1",
            ]),
            13 => self.pick(&[
                "find . -name 'f*' -delete",
                "find . -name g0 -exec rm {} \\;",
                "find . -fprint o6",
                "find d0 -name 'g*' -exec cat {} +",
            ]),
            14 => self.pick(&[
                "tar cf o7.tar f0",
                "gzip -k f0",
                "cp -r d0 n6",
                "cp -t d0 f0",
                "mv -t d0 f0 f1",
                "cp f0 f1 d0",
                "mv d0 n7",
            ]),
            15 => self.pick(&[
                "comm f0 f1",
                "diff f0 f1",
                "paste f0",
                "uniq f1 o8",
                "tee -a o1 < f0",
                "nl f0",
                "cut -c1 f0",
                "join f0 f1",
            ]),
            16 => format!("echo k >{}; cat {}", "o9", self.dice.pick(&["o9", "< o9", "o*"])),
            _ => self.pick(&["shred -u f1", "touch -r f0 o2", "chmod +x f0", "test -f f0", "[ -s f0 ]"]),
        }
    }

    /// A program that starts another.
    fn wrapper(&mut self) -> String {
        let (marker, words) = (self.marker(), self.words());
        match self.dice.roll(20) {
            0 => format!("env A=1 {marker} {words}"),
            1 => format!("env -i PATH=/stubs {marker} {words}"),
            2 => format!("nice -n 5 {marker} {words}"),
            3 => format!("timeout 5 {marker} {words}"),
            4 => format!("nohup {marker} {words}"),
            5 => format!("command {marker} {words}"),
            6 => format!("echo {} | xargs {marker} {words}", self.literal()),
            7 => format!("printf '%s\\n' {words} | xargs -I% {marker} -%- z"),
            8 => format!("find . -name '{}' -exec {marker} {{}} \\;", self.dice.pick(&["f*", "g0", "nope"])),
            9 => format!("find d0 -type f -exec {marker} {{}} +"),
            10 => format!("find . -name 'f?' | xargs {marker}"),
            11 => format!("env -S '{marker} s t' {words}"),
            12 => format!("nice timeout -k 1 5 env -u v {marker} {words}"),
            13 => format!("setsid -w {marker} {words}"),
            14 => format!("stdbuf -o0 {marker} {words}"),
            15 => format!("printf 'a b\\0c' | xargs -0 -n1 {marker} {words}"),
            16 => format!("xargs -a f0 {marker}"),
            17 => format!("( exec {marker} {words} )"),
            18 => format!("awk 'BEGIN{{system(\"{marker} from awk\")}}'"),
            _ => format!("exec -a other {marker} {words}"),
        }
    }

    /// A shell that reads text.
    fn shell(&mut self) -> String {
        let inner = self.nested();
        match self.dice.roll(16) {
            0 | 1 => format!("eval {}", single(&inner)),
            2 => format!("eval {}", double(&inner)),
            3 | 4 => format!("bash -c {} n0 {}", single(&inner), self.words()),
            5 => format!("sh -c {}", double(&inner)),
            6 => format!("eval \"{} \\\"$v\\\" $w\"", self.marker()),
            7 => format!("env A=1 bash -c 'c8 \"$A\" \"$1\"' _ {}", self.words()),
            8 => format!("echo {} | bash", single(&inner)),
            9 => format!("bash <<< {}", single(&inner)),
            10 => format!("printf '%s\\n' {} | sh -s {}", single(&inner), self.words()),
            11 => format!("echo {} | xargs bash -c 'c7 \"$@\"' _", self.literal()),
            12 => format!("bash <(echo {})", single(&inner)),
            13 => format!("source <(echo {})", single(&inner)),
            14 => format!(
                "echo {} > s1; {} s1 {}",
                single(&inner),
                self.dice.pick(&[".", "bash", "source", "sh"]),
                self.words()
            ),
            _ => format!("export v; bash -c {}", single(&format!("{} \"$v\"", self.marker()))),
        }
    }

    /// Commands that will be quoted once more.
    pub(crate) fn nested(&mut self) -> String {
        if self.depth > 4 {
            return self.marker();
        }
        self.within_quotes(|maker| {
            let one = maker.simple();
            if maker.dice.is_one_in(2) { one } else { format!("{one}; {}", maker.simple()) }
        })
    }
}

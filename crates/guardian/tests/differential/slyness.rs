//! Statements people hide commands with: names that stand for others, text put together and read again, streams that are moved
//! about, arithmetic that does something.

use super::maker::{Maker, double, single};

impl Maker {
    /// Text that becomes a command later than it is read.
    pub(crate) fn sly(&mut self) -> String {
        let (marker, name) = (self.marker(), self.name());
        match self.dice.roll(16) {
            0 => format!("eval {}", single(&format!("eval {}", double(&format!("{marker} \"${name}\""))))),
            1 => format!("v={marker}; w=v; ${{!w}} {}", self.words()),
            2 => format!("declare -n ref={name}; ref={}; {marker} \"${name}\" \"$ref\"", self.literal()),
            3 => format!(
                "fn() {{ local -n out=$1; out={}; }}; fn {name}; {marker} \"${name}\"",
                self.literal()
            ),
            4 => format!("printf -v {name} '%s %s' {marker} k; ${name}"),
            5 => format!("{name}=$(printf '\\x63%s' {}); ${name} z", marker.trim_start_matches('c')),
            6 => format!("cmd=({marker} -a); cmd+=({}); \"${{cmd[@]}}\"", self.words()),
            7 => format!("declare -A act=([go]={marker} [no]=c0); \"${{act[go]}}\" {}", self.words()),
            8 => format!("set -- {marker} {}; \"$@\"", self.words()),
            9 => format!("IFS=,; {name}={marker},a,b; ${name}"),
            10 => format!("{name}='{marker} q'; bash -c \"${name}\"; bash <<< \"${name} r\""),
            11 => format!("{name}={}; {name}=${{{name}%z}}; c${name}", marker.trim_start_matches('c')),
            12 => format!("until {marker} u; do break; done; {} $?", self.marker()),
            13 => format!("x=$(( {} )); {marker} $x $?", self.arithmetic()),
            14 => format!("let 'n = 3' 'n += 2'; (( n > 4 )) && {marker} $n"),
            _ => format!("n=2; while (( n-- )); do {marker} $n; done; {} $n", self.marker()),
        }
    }

    /// Values that are kept in arrays, read line by line, and used again.
    pub(crate) fn stored(&mut self) -> String {
        let (marker, name) = (self.marker(), self.name());
        match self.dice.roll(16) {
            0 => format!("mapfile -t rows < <(printf '%s\\n' {}); {marker} \"${{rows[@]}}\"", self.words()),
            1 => format!("readarray -t -n 1 rows <<< $'p\\nq'; {marker} \"${{rows[@]}}\""),
            2 => format!("read -r {name} x <<< {}; {marker} \"${name}\" \"$x\"", self.word()),
            3 => format!("IFS=: read -r a b c <<< p:q:r; {marker} \"$a\" \"$b\" \"$c\""),
            4 => format!("read -r -n 2 {name} <<< abcd; {marker} \"${name}\""),
            5 => format!("while IFS== read -r k val; do {marker} \"$k\" \"$val\"; done <<< $'a=1\\nb=2'"),
            6 => format!("arr=([3]=p [1]=q); arr+=(r); {marker} \"${{!arr[@]}}\" \"${{arr[@]}}\""),
            7 => format!(
                "declare -A set=([a]=1 [b]=2 [cc]=3); for k in \"${{!set[@]}}\"; do {marker} \"$k\" \"${{set[$k]}}\"; done"
            ),
            8 => format!("declare -A m=(x y z w); {marker} \"${{m[x]}}\" \"${{m[@]}}\""),
            9 => format!("arr=(a b c d); unset 'arr[1]'; {marker} \"${{arr[@]:1:2}}\" \"${{#arr[@]}}\""),
            10 => format!("declare -a arr=({}); {marker} \"${{arr[-1]}}\"", self.words()),
            11 => format!(
                "arr=({}); for i in \"${{!arr[@]}}\"; do {marker} $i \"${{arr[i]}}\"; done",
                self.words()
            ),
            12 => format!("{name}=abc; {marker} \"${{{name}:1:1}}\" \"${{{name}/b/$x}}\" \"${{{name}@U}}\""),
            13 => format!("printf 'no end' | {{ read -r l || {marker} \"$l\"; }}"),
            14 => format!("declare -i n=4+5; n+=1; {marker} $n"),
            _ => format!("declare -u {name}=abc; declare -r k=1; {marker} \"${name}\" $k"),
        }
    }

    /// Descriptors that are opened, moved and closed, and what runs at their other ends.
    pub(crate) fn streamed(&mut self) -> String {
        let (marker, target) = (self.marker(), self.target());
        match self.dice.roll(16) {
            0 => format!("exec 5< f0; read -r l <&5; {marker} \"$l\"; exec 5<&-"),
            1 => format!("exec 6> {target}; echo k >&6; exec 6>&-; {marker} done"),
            2 => format!("( exec > {target}; {marker} in; echo z )"),
            3 => format!("{{ {marker} a; echo b; }} > {target} 2>&1"),
            4 => format!("tee >(cat > o3) < f0 > {target}; wait; {marker}"),
            5 => format!("diff <(echo a) <({marker} p); {} $?", self.marker()),
            6 => format!(
                "coproc CO {{ cat; }}; echo hi >&\"${{CO[1]}}\"; {marker} co; eval \"exec ${{CO[1]}}>&-\"; wait"
            ),
            7 => format!("exec {{fd}}> {target}; {marker} >&$fd; exec {{fd}}>&-"),
            8 => format!("exec 3>&1; v=$({marker} x 3>&1 1>&2); exec 3>&-; {} \"$v\"", self.marker()),
            9 => format!("set -o noclobber; echo k > o0; echo l > f0; {marker} $?; set +o noclobber"),
            10 => format!("cat <<< \"$({marker} hs)\" > {target}"),
            11 => format!("{marker} < <(cat f0; echo {})", self.literal()),
            12 => format!("mkdir -p n9 && cd n9 && {marker} here; cd ..; {} back", self.marker()),
            13 => format!("pushd d0 > {target} && {marker} p; popd > o1; {} q", self.marker()),
            14 => format!("( cd d0; {marker} sub; echo x > in ); {} out", self.marker()),
            _ => format!("cat f0 {target} 2> o2 | while read -r l; do {marker} \"$l\"; done"),
        }
    }

    /// Names that are not what they were: functions, aliases, hashes, traps.
    pub(crate) fn shadowed(&mut self) -> String {
        let (marker, other) = (self.marker(), self.marker());
        match self.dice.roll(16) {
            0 => format!("echo() {{ {marker} \"$@\"; }}; echo {}; unset -f echo; echo k > o4", self.words()),
            1 => format!("cd() {{ builtin cd \"$@\" && {marker} moved; }}; cd d0; {other}"),
            2 => format!("{marker}() {{ {other} \"$@\"; }}; {marker} {}; command {marker} z", self.words()),
            3 => format!(
                "shopt -s expand_aliases\nalias {marker}={other}\n{marker} a\n\\{marker} b\nunalias {marker}\n{marker} c"
            ),
            4 => format!("shopt -s expand_aliases\nalias go='{marker} ' t=tt\ngo t"),
            5 => format!("hash -p /stubs/{marker} tool; tool {}", self.words()),
            6 => format!("trap '{marker} dbg' DEBUG; : one; trap - DEBUG; {other}"),
            7 => format!("fn() {{ trap '{marker} ret' RETURN; {other}; }}; fn; trap - RETURN"),
            8 => format!("trap '{marker} usr' USR1; kill -USR1 $$; {other}"),
            9 => format!("fn() {{ {marker} \"${{FUNCNAME[0]}}\"; }}; fn; type -t fn > o5"),
            10 => format!("set -e; false || {marker} a; ( set +e; false; {other} b )"),
            11 => format!("set -u; {marker} \"${{nope-d}}\"; set +u; {other} \"$nope\""),
            12 => format!("fn() {{ if [ \"$1\" -gt 0 ]; then {marker} $1; fn $(($1-1)); fi; }}; fn 2"),
            13 => format!("outer() {{ inner() {{ {marker} i; }}; }}; outer; inner; {other}"),
            14 => format!(
                "PROMPT_COMMAND='{marker} no'; BASH_ENV=s3; echo '{other} env' > s3; BASH_ENV=s3 bash -c ':'"
            ),
            _ => format!("enable -n echo; {marker} a; enable echo; [ -v v ] && {other} b"),
        }
    }
}

//! What attempts leave behind to be judged by, however odd it is.

use super::{CHECK, agent, fork, gates, repository};
use crate::support::{Glass, promises};

promises! { [root]:
    what_is_wrong_with_one_attempt_is_held_against_no_other,
}

fn what_is_wrong_with_one_attempt_is_held_against_no_other(glass: &Glass) {
    repository(glass);
    let mend = "sed -i 's/a - b/a + b/' calc.py";
    let script = agent(&[
        &format!("{mend}; rm -r tests; ln -s calc.py tests"),
        &format!("{mend}; rm -r tests; echo none > tests"),
        &format!(
            "{mend}; mkdir -p data/deep; echo 1 > data/deep/x; rm calc.py; mkdir calc.py; echo > calc.py/x"
        ),
        "rm -r docs; echo flat > docs",
        mend,
    ]);
    std::fs::create_dir(glass.work().join("docs")).unwrap();
    glass.write("docs/page.md", "words\n");
    let results = fork(glass, &["-n", "5", "--check", CHECK], &script, 0);
    assert_eq!(results["winner_fork"], 4, "{results:#}");
    for fork in [0, 1] {
        let failed = gates(&results, fork);
        assert!(failed.contains("G1") && failed.contains("tests/"), "{failed}");
    }
    assert!(gates(&results, 2).contains("G5"), "{results:#}");
    // Where nothing of the base comes back, a file may take a directory's place.
    assert!(gates(&results, 3).contains("G5") && !gates(&results, 3).contains("G1"), "{results:#}");
}

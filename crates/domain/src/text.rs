//! Letters that make a text read as something else than it is.

/// Whether a letter is not seen or turns around what is seen beside it: those behind CVE-2021-42574 and their kin. What
/// joins letters of a script or parts of an emoji is none of them, and neither is a control character.
#[must_use]
pub const fn deceives(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::deceives;

    #[test]
    fn what_turns_text_around_deceives_and_what_scripts_and_emoji_need_does_not() {
        assert!("\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{206a}".chars().all(deceives));
        assert!(!"aé日\u{200c}\u{200d}\u{fe0f}👩 \n\u{1b}".chars().any(deceives));
    }
}

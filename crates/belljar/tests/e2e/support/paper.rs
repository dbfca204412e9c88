//! What a terminal shows, out of what was written to it: as much of one as full-screen programs here need.

/// Larger than any window of the tests.
const ROWS: usize = 80;
const COLS: usize = 300;

/// The characters on the screen, line by line.
pub(super) fn rendered(written: &str) -> String {
    let mut screen = vec![vec![' '; COLS]; ROWS];
    let (mut row, mut col) = (0, 0);
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => {
                let Some('[') = letters.next() else { continue };
                let mut numbers = String::new();
                let end = letters.by_ref().find(|letter| {
                    numbers.push(*letter);
                    letter.is_ascii_alphabetic()
                });
                let number = |place: usize| {
                    let digits = numbers.trim_end_matches(char::is_alphabetic).split(';').nth(place);
                    digits.and_then(|digits| digits.parse::<usize>().ok()).unwrap_or(1) - 1
                };
                match end {
                    Some('H') => (row, col) = (number(0).min(ROWS - 1), number(1).min(COLS - 1)),
                    Some('J') => screen = vec![vec![' '; COLS]; ROWS],
                    _ => {}
                }
            }
            '\r' => col = 0,
            '\n' => row = (row + 1).min(ROWS - 1),
            letter => {
                screen[row][col] = letter;
                col = (col + 1).min(COLS - 1);
            }
        }
    }
    let lines: Vec<_> =
        screen.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}

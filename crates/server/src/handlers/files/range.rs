//! Parts of a file: one range, as RFC 9110 writes it. Several at once are answered with the whole.

/// What part of a file is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// From here, so many bytes.
    From(u64, u64),
    /// Nothing that is there.
    Beyond,
}

/// Reads a `Range` header for a file of this size.
pub(super) fn part(header: Option<&str>, size: u64) -> Part {
    let Some((first, last)) =
        header.and_then(|text| text.trim().strip_prefix("bytes=")).and_then(|r| r.split_once('-'))
    else {
        return Part::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>();
    match (first.trim(), last.trim()) {
        ("", suffix) => match number(suffix) {
            Ok(0) => Part::Beyond,
            Ok(_) if size == 0 => Part::Beyond,
            Ok(count) => Part::From(size.saturating_sub(count), count.min(size)),
            Err(_) => Part::Whole,
        },
        (first, last) => {
            let end = if last.is_empty() { Ok(u64::MAX) } else { number(last) };
            match (number(first), end) {
                (Ok(first), Ok(last)) if first <= last && first < size => {
                    Part::From(first, last.min(size - 1) - first + 1)
                }
                (Ok(first), Ok(last)) if first <= last => Part::Beyond,
                _ => Part::Whole,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (header, wanted) in [
            (None, Part::Whole),
            (Some("bytes=0-4"), Part::From(0, 5)),
            (Some("bytes=5-"), Part::From(5, 5)),
            (Some("bytes=-3"), Part::From(7, 3)),
            (Some("bytes=-99"), Part::From(0, 10)),
            (Some("bytes=8-99"), Part::From(8, 2)),
            (Some("bytes=10-"), Part::Beyond),
            (Some("bytes=-0"), Part::Beyond),
            (Some("bytes=5-2"), Part::Whole),
            (Some("bytes=0-1,4-5"), Part::Whole),
            (Some("lines=1-2"), Part::Whole),
            (Some("bytes=99999999999999999999-"), Part::Whole),
        ] {
            assert_eq!(part(header, 10), wanted, "{header:?}");
        }
        assert_eq!(part(Some("bytes=-5"), 0), Part::Beyond);
    }
}

//! Finding the end of quotes, braces and substitutions, as bash does when it cuts words out of its input.
//!
//! Owns: how far a construct reaches. Refuses: what it means; that is read afterwards, between the two ends, because
//! bash too looks twice and by different rules. Only `$(…)` is read at once: nothing less finds its end.

use super::cursor::{Parser, Read, Stop};

/// A construct whose end is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) open: u8,
    pub(super) close: u8,
    pub(super) kind: Group,
}

/// What a grouping construct is; each looks into itself differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// `${…}`
    Braces,
    /// `$((…))`, `((…))`, `$[…]`
    Arithmetic,
    /// `a[…]`
    Subscript,
    /// `@(…)`, and the parentheses of a regular expression.
    Pattern,
}

impl Pair {
    /// Whether every `$` is looked into.
    fn looks_in(self) -> bool {
        matches!(self.kind, Group::Braces | Group::Subscript)
    }
}

impl Parser<'_> {
    /// Behind an opening `'`: to behind the closing one.
    pub(super) fn skip_single(&mut self) -> Read<()> {
        loop {
            match self.raw() {
                None => return Err(Stop::SYNTAX),
                Some(b'\'') => {
                    self.bump();
                    return Ok(());
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Behind an opening `$'`: to behind the closing `'`.
    pub(super) fn skip_ansi(&mut self) -> Read<()> {
        loop {
            match self.raw() {
                None => return Err(Stop::SYNTAX),
                Some(b'\'') => {
                    self.bump();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.bump();
                    self.bump();
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Behind an opening backquote: to behind the closing one.
    pub(super) fn skip_backquote(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                None => return Err(Stop::SYNTAX),
                Some(b'`') => {
                    self.bump();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.bump();
                    self.bump();
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Behind an opening `"`: to behind the closing one.
    pub(super) fn skip_double(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                None => return Err(Stop::SYNTAX),
                Some(b'"') => {
                    self.bump();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.bump();
                    self.bump();
                }
                Some(b'`') => {
                    self.bump();
                    self.skip_backquote()?;
                }
                Some(b'$') => self.skip_dollar()?,
                Some(_) => self.bump(),
            }
        }
    }

    /// At a `$`: over it and what belongs to it, when that is a group; else over the `$` alone (and a second one).
    pub(super) fn skip_dollar(&mut self) -> Read<()> {
        let start = self.input.at;
        match self.second() {
            Some(b'(') => self.skip_command(start),
            Some(b'{') => {
                self.bump_many(2);
                self.skip_braces()
            }
            Some(b'[') => {
                self.bump_many(2);
                self.skip_group(Pair { open: b'[', close: b']', kind: Group::Arithmetic })
            }
            Some(b'$') => {
                self.bump_many(2);
                Ok(())
            }
            Some(_) | None => {
                self.bump();
                Ok(())
            }
        }
    }

    /// Behind `${`: to behind its `}`.
    pub(super) fn skip_braces(&mut self) -> Read<()> {
        self.skip_group(Pair { open: b'{', close: b'}', kind: Group::Braces })
    }

    /// At `$(`, `<(` or `>(`: over all of it, keeping what was read for when the word is built.
    pub(super) fn skip_command(&mut self, start: usize) -> Read<()> {
        if let Some(end) = self.input.ends.get(&start).copied() {
            if end > self.input.end {
                return Err(Stop::SYNTAX);
            }
            self.pay(1);
            self.input.at = end;
            return Ok(());
        }
        self.bump_many(2);
        if self.peek() == Some(b'(') {
            self.skip_group(Pair { open: b'(', close: b')', kind: Group::Arithmetic })?;
        } else {
            let script = self.deeper(Self::substitution)?;
            self.input.scripts.insert(start, script);
        }
        self.input.ends.insert(start, self.input.at);
        Ok(())
    }

    /// Behind the opening byte of a group: to behind its closing one.
    pub(super) fn skip_group(&mut self, pair: Pair) -> Read<()> {
        self.deeper(|parser| parser.skip_group_inside(pair))
    }

    fn skip_group_inside(&mut self, pair: Pair) -> Read<()> {
        let mut count = 1_u32;
        loop {
            let byte = self.peek().ok_or(Stop::SYNTAX)?;
            if byte == pair.close {
                self.bump();
                count -= 1;
                if count == 0 {
                    return Ok(());
                }
                continue;
            }
            match byte {
                b'\\' => {
                    self.bump();
                    self.bump();
                }
                b'\'' => {
                    self.bump();
                    self.skip_single()?;
                }
                b'"' => {
                    self.bump();
                    self.skip_double()?;
                }
                b'`' => {
                    self.bump();
                    self.skip_backquote()?;
                }
                b'$' => self.skip_dollar_in_group(pair, &mut count)?,
                b'<' | b'>' if pair.looks_in() && self.second() == Some(b'(') => {
                    let start = self.input.at;
                    self.skip_command(start)?;
                }
                _ => {
                    if byte == pair.open && pair.kind != Group::Braces {
                        count += 1;
                    }
                    self.bump();
                }
            }
        }
    }

    fn skip_dollar_in_group(&mut self, pair: Pair, count: &mut u32) -> Read<()> {
        match self.second() {
            Some(b'\'') => {
                self.bump_many(2);
                self.skip_ansi()
            }
            Some(b'$') => {
                self.bump_many(2);
                Ok(())
            }
            Some(b'(') if pair.kind == Group::Arithmetic || pair.looks_in() => {
                let start = self.input.at;
                self.skip_command(start)
            }
            Some(b'{' | b'[') if pair.looks_in() => self.skip_dollar(),
            Some(b'{') if pair.open == b'{' => {
                *count += 1;
                self.bump_many(2);
                Ok(())
            }
            Some(_) | None => {
                self.bump();
                Ok(())
            }
        }
    }
}

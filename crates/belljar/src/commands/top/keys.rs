//! What each key does.

use belljar_domain::SandboxState;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::screen::{Act, Mode, Screen};

/// The longest filter.
const LONGEST: usize = 64;
/// How far a page key goes.
const PAGE: u16 = 10;

/// What comes of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Stay,
    Act(Act),
    Quit,
}

/// Carries out a key.
pub(super) fn press(screen: &mut Screen, key: KeyEvent) -> Step {
    if key.kind == KeyEventKind::Release {
        return Step::Stay;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
        return Step::Quit;
    }
    match &mut screen.mode {
        Mode::Browse => browse(screen, key.code),
        Mode::Filter => filter(screen, key.code),
        Mode::Confirm(id) => {
            let act = Act::End(*id);
            screen.mode = Mode::Browse;
            if matches!(key.code, KeyCode::Char('y' | 'Y')) { Step::Act(act) } else { Step::Stay }
        }
        Mode::Inspect { text, from } => {
            let last = u16::try_from(text.len()).unwrap_or(u16::MAX).saturating_sub(1);
            match key.code {
                KeyCode::Char('j') | KeyCode::Down => *from = from.saturating_add(1).min(last),
                KeyCode::Char('k') | KeyCode::Up => *from = from.saturating_sub(1),
                KeyCode::PageDown | KeyCode::Char(' ') => *from = from.saturating_add(PAGE).min(last),
                KeyCode::PageUp => *from = from.saturating_sub(PAGE),
                KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q') => screen.mode = Mode::Browse,
                _ => {}
            }
            Step::Stay
        }
    }
}

fn browse(screen: &mut Screen, code: KeyCode) -> Step {
    let page = isize::try_from(PAGE).unwrap_or(1);
    match code {
        KeyCode::Char('q') => return Step::Quit,
        KeyCode::Char('j') | KeyCode::Down => screen.step(1),
        KeyCode::Char('k') | KeyCode::Up => screen.step(-1),
        KeyCode::PageDown => screen.step(page),
        KeyCode::PageUp => screen.step(-page),
        KeyCode::Home | KeyCode::Char('g') => screen.step(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => screen.step(isize::MAX),
        KeyCode::Char('s') => screen.sort_by_next(),
        KeyCode::Char('/') => screen.mode = Mode::Filter,
        KeyCode::Esc => screen.filter.clear(),
        KeyCode::Enter | KeyCode::Char('p' | 'x') => {
            if let Some((id, state)) = screen.meant() {
                match code {
                    KeyCode::Char('x') => screen.mode = Mode::Confirm(id),
                    KeyCode::Enter => return Step::Act(Act::Inspect(id)),
                    _ if state == SandboxState::Paused => return Step::Act(Act::Resume(id)),
                    _ => return Step::Act(Act::Pause(id)),
                }
            }
        }
        _ => {}
    }
    Step::Stay
}

fn filter(screen: &mut Screen, code: KeyCode) -> Step {
    match code {
        KeyCode::Enter => screen.mode = Mode::Browse,
        KeyCode::Esc => {
            screen.filter.clear();
            screen.mode = Mode::Browse;
        }
        KeyCode::Backspace => drop(screen.filter.pop()),
        KeyCode::Char(letter) if screen.filter.len() < LONGEST => screen.filter.push(letter),
        _ => {}
    }
    Step::Stay
}

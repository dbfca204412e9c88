//! The screen as characters: totals, sandboxes, events, keys, and what lies over them.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Borders, Cell, Clear, Paragraph, Row as Cells, Table, TableState},
};

use super::{
    look::{Row, Totals},
    screen::{Mode, Screen},
};
use crate::{
    client::Event,
    commands::logs::deeds,
    output::{amount, brief, plain},
};

const KEYS: &str = "j/k move  enter inspect  p pause/resume  x end  / filter  s sort  q quit";
const HEADING: [&str; 9] = ["ID", "STATE", "AGENT", "AGE", "CPU %", "MEMORY", "PIDS", "NET RX/TX", "COMMAND"];
const WIDTHS: [Constraint; 9] = [
    Constraint::Length(8),
    Constraint::Length(8),
    Constraint::Length(12),
    Constraint::Length(4),
    Constraint::Length(6),
    Constraint::Length(22),
    Constraint::Length(5),
    Constraint::Length(15),
    Constraint::Min(10),
];
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// The characters of a bar of memory.
const BAR: usize = 8;
/// The events of a frame that has no window to fill.
const FEW: usize = 10;

/// The lines all of it takes.
pub(super) fn height(screen: &Screen) -> u16 {
    let lines = 2 + 2 + screen.visible().len().max(1) + 2 + screen.events.len().clamp(1, FEW) + 1;
    u16::try_from(lines).unwrap_or(u16::MAX)
}

pub(super) fn draw(frame: &mut Frame<'_>, screen: &Screen) {
    let events = u16::try_from(screen.events.len().clamp(1, FEW)).unwrap_or(1) + 2;
    let events = events.min(frame.area().height / 2);
    let parts =
        [Constraint::Length(2), Constraint::Min(3), Constraint::Length(events), Constraint::Length(1)];
    let [head, middle, below, foot] = Layout::vertical(parts).areas(frame.area());
    frame.render_widget(Paragraph::new(header(screen)), head);
    sandboxes(frame, middle, screen);
    happenings(frame, below, screen);
    frame.render_widget(footer(screen), foot);
    match &screen.mode {
        Mode::Confirm(id) => {
            let question = format!("end {}? [y/N]", id.short());
            over(frame, "end", &[question], 0);
        }
        Mode::Inspect { text, from } => over(frame, "inspect", text, *from),
        Mode::Browse | Mode::Filter => {}
    }
}

fn header(screen: &Screen) -> Vec<Line<'static>> {
    let totals = Totals::of(screen.all());
    let mut first = vec![
        Span::styled("belljar", BOLD),
        Span::raw(format!("  {} running  {} paused", totals.running, totals.paused)),
    ];
    if totals.other > 0 {
        first.push(Span::raw(format!("  {} other", totals.other)));
    }
    let cpu = format!("  cpu {}.{}%", totals.cpu_milli / 10, totals.cpu_milli % 10);
    first.push(Span::raw(format!("{cpu}  memory {}", amount(Some(totals.memory_bytes)))));
    if totals.alerts > 0 {
        let style = Style::new().fg(Color::Red);
        first.push(Span::styled(format!("  {} alerts", totals.alerts), style));
    }
    let second = match &screen.server {
        Some(state) => format!(
            "server up  pool {}/{}  queue {}  writer lag {}ms  ledger {}",
            state.pool_ready, state.pool_target, state.queued, state.lag_ms, state.events
        ),
        None if screen.is_ready => "no server; `belljar serve` starts one".to_owned(),
        None => "looking …".to_owned(),
    };
    vec![Line::from(first), Line::styled(second, DIM)]
}

fn sandboxes(frame: &mut Frame<'_>, area: Rect, screen: &Screen) {
    let visible = screen.visible();
    let mut title = format!(" sandboxes by {} ", screen.order.name());
    if !screen.filter.is_empty() {
        title = format!("{title}with `{}` ", plain(&screen.filter));
    }
    let block = Block::new().borders(Borders::TOP).border_style(DIM).title(title);
    if visible.is_empty() {
        let text = if screen.filter.is_empty() { "nothing is running" } else { "nothing fits" };
        frame.render_widget(Paragraph::new(text).style(DIM).block(block), area);
        return;
    }
    let rows = visible.iter().map(|row| cells(row));
    let table = Table::new(rows, WIDTHS)
        .header(Cells::new(HEADING).style(BOLD))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .column_spacing(1)
        .block(block);
    let mut state = TableState::new().with_selected(Some(screen.place()));
    frame.render_stateful_widget(table, area, &mut state);
}

fn cells(row: &Row) -> Cells<'static> {
    let (seen, usage) = (&row.measured.seen, &row.measured.usage);
    let colour = match seen.state {
        belljar_domain::SandboxState::Running => Color::Green,
        belljar_domain::SandboxState::Paused => Color::Yellow,
        _ => Color::Reset,
    };
    let pids = usage.pids.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let net = format!("{}/{}", amount(usage.net_rx_bytes), amount(usage.net_tx_bytes));
    Cells::new([
        Cell::from(seen.id.short()),
        Cell::from(Span::styled(seen.state.to_string(), Style::new().fg(colour))),
        Cell::from(plain(seen.spec.agent.as_deref().unwrap_or("-"))),
        Cell::from(brief(seen.age())),
        Cell::from(row.measured.cpu_percent()),
        Cell::from(memory(row)),
        Cell::from(pids),
        Cell::from(net),
        Cell::from(plain(&row.command)),
    ])
}

/// A bar of how much of the limit is used, and both numbers.
fn memory(row: &Row) -> Line<'static> {
    let limit = row.measured.seen.spec.limits.memory;
    let Some(percent) = row.measured.memory_percent() else { return Line::raw("-") };
    let full = usize::try_from(percent).unwrap_or(100).min(100) * BAR / 100;
    let colour = match percent {
        95.. => Color::Red,
        80.. => Color::Yellow,
        _ => Color::Green,
    };
    Line::from(vec![
        Span::styled("█".repeat(full), Style::new().fg(colour)),
        Span::styled("░".repeat(BAR - full), DIM),
        Span::raw(format!(" {}/{limit}", amount(row.measured.usage.memory_bytes))),
    ])
}

fn happenings(frame: &mut Frame<'_>, area: Rect, screen: &Screen) {
    let block = Block::new().borders(Borders::TOP).border_style(DIM).title(" events ");
    let room = usize::from(area.height.saturating_sub(1));
    let lines: Vec<_> = screen.events.iter().take(room).map(happening).collect();
    let text = if lines.is_empty() { vec![Line::styled("nothing is recorded yet", DIM)] } else { lines };
    frame.render_widget(Paragraph::new(text).block(block), area);
}

fn happening(event: &Event) -> Line<'static> {
    let time = event.time.to_string();
    let clock = time.get(11..19).unwrap_or_default().to_owned();
    let id = event.sandbox_id.as_deref().unwrap_or("-");
    let short = id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned();
    let status = event.status.as_deref().unwrap_or_default();
    let colour = match status {
        "failure" | "denied" => Color::Red,
        "timeout" | "cancelled" => Color::Yellow,
        _ => Color::Reset,
    };
    Line::from(vec![
        Span::styled(clock, DIM),
        Span::raw(format!("  {short:<8}  {:<18}  ", plain(&event.kind))),
        Span::styled(format!("{:<9}", plain(status)), Style::new().fg(colour)),
        Span::raw(format!("  {}", plain(&deeds::details(event)))),
    ])
}

fn footer(screen: &Screen) -> Line<'static> {
    match &screen.mode {
        Mode::Filter => Line::raw(format!("/{}▏ enter keeps it, esc drops it", plain(&screen.filter))),
        _ if !screen.word.is_empty() => Line::raw(format!("{}  ·  {KEYS}", plain(&screen.word))),
        _ => Line::styled(KEYS, DIM),
    }
}

/// Text in a window over everything.
fn over(frame: &mut Frame<'_>, title: &str, text: &[String], from: u16) {
    let area = frame.area();
    let longest = text.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = u16::try_from(longest + 4).unwrap_or(u16::MAX).clamp(20, area.width.max(20)).min(area.width);
    let height = u16::try_from(text.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let x = area.x + area.width.saturating_sub(width) / 2;
    let y = area.y + area.height.saturating_sub(height) / 2;
    let window = Rect { x, y, width, height };
    let lines: Vec<_> = text.iter().map(|line| Line::raw(plain(line))).collect();
    let block = Block::bordered().title(format!(" {title} "));
    frame.render_widget(Clear, window);
    frame.render_widget(Paragraph::new(lines).scroll((from, 0)).block(block), window);
}

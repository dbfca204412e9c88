//! Money, time and sizes as reports say them.

pub(super) fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3600, seconds % 3600 / 60),
    }
}

pub(super) fn money(dollars: Option<f64>) -> String {
    match dollars {
        None => "–".to_owned(),
        Some(dollars) if dollars > 0.0 && dollars < 0.01 => format!("${dollars:.4}"),
        Some(dollars) => format!("${dollars:.2}"),
    }
}

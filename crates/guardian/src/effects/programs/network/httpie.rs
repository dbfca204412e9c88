//! `http`, `xh`: requests written as words.

use super::super::call::Call;
use super::super::options::{Options, after};
use super::fetch::{flows, named, request, writes};
use crate::effects::act::Datum;
use crate::effects::invocation::{Outcome, Stream};

/// `http`, `xh`: `METHOD url key=value key@file`.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new(
        "a:o:A:p:s:",
        "auth= output= auth-type= print= session= verify= timeout= proxy= cert= cert-key= style= pretty= raw= download form json",
    ));
    let mut outcome = Outcome::default();
    let mut operands = read.operands.as_slice();
    let first = read.verb();
    let has_method = !first.is_empty() && first.chars().all(|letter| letter.is_ascii_uppercase());
    let method = if has_method { first } else { "" };
    if has_method {
        operands = operands.get(1..).unwrap_or_default();
    }
    let [url, items @ ..] = operands else { return Outcome::harmless() };
    let mut data = flows(call, &read);
    let mut is_sent = call.invocation.input != Stream::default();
    data.extend(call.input_data());
    for item in items {
        let text = String::from_utf8_lossy(item.prefix()).into_owned();
        if let Some(place) = text.find(['@', '=', ':'])
            && (text.get(place..).is_some_and(|rest| {
                rest.starts_with('@') || rest.starts_with("=@") || rest.starts_with(":=@")
            }))
        {
            let sign = text.get(place..).and_then(|rest| rest.find('@')).unwrap_or(0);
            let path = after(item, place + sign + 1);
            outcome.push(call.reads(&path));
            data.push(Datum::File(call.path(&path)));
        }
        is_sent |= !text.contains("==") && !text.contains(':');
    }
    request(call, url, method, is_sent, data, &mut outcome);
    match read.value("o output") {
        Some(file) => writes(call, None, file, &mut outcome),
        None if read.has("d download") => writes(call, None, &named(url), &mut outcome),
        None => outcome.output = Stream::data([Datum::Download(url.clone())]),
    }
    outcome
}

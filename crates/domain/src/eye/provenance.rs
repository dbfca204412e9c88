//! Who told which field of a call: small, since every call has one.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::Told;

/// The fields of a call, in the order they are written.
pub(super) const FIELDS: [&str; 22] = [
    "tool_use_id",
    "prompt",
    "agent_type",
    "parent_agent",
    "sandbox",
    "execution",
    "run",
    "tool",
    "target",
    "target_type",
    "input",
    "input_bytes",
    "output_bytes",
    "decision",
    "decided_by",
    "reason",
    "outcome",
    "error",
    "began",
    "ended",
    "duration_ms",
    "started_agent",
];

/// Who told which field; written as one letter for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Provenance([Option<Told>; FIELDS.len()]);

impl Provenance {
    /// Who told a field.
    #[must_use]
    pub fn of(&self, field: &str) -> Option<Told> {
        self.0.get(place(field)?).copied().flatten()
    }

    /// Every field somebody told, and who.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, Told)> {
        FIELDS.into_iter().zip(self.0).filter_map(|(field, told)| Some((field, told?)))
    }

    pub(super) fn set(&mut self, field: &str, by: Told) {
        if let Some(slot) = place(field).and_then(|place| self.0.get_mut(place)) {
            *slot = Some(by);
        }
    }
}

fn place(field: &str) -> Option<usize> {
    FIELDS.iter().position(|known| *known == field)
}

const fn letter(told: Option<Told>) -> char {
    match told {
        None => '-',
        Some(Told::Estimate) => 'e',
        Some(Told::Transcript) => 'r',
        Some(Told::Telemetry) => 't',
        Some(Told::Hook) => 'h',
        Some(Told::Belljar) => 'b',
    }
}

impl Serialize for Provenance {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let letters: String = self.0.iter().map(|told| letter(*told)).collect();
        to.serialize_str(letters.trim_end_matches('-'))
    }
}

impl<'de> Deserialize<'de> for Provenance {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let letters = String::deserialize(from)?;
        let mut all = Self::default();
        for (slot, c) in all.0.iter_mut().zip(letters.chars()) {
            let known = Told::ALL.iter().copied().find(|told| letter(Some(*told)) == c);
            if known.is_none() && c != '-' {
                return Err(D::Error::custom("a letter nobody is known by"));
            }
            *slot = known;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_its_letters() {
        let mut all = Provenance::default();
        assert_eq!(serde_json::to_string(&all).unwrap(), "\"\"");
        all.set("prompt", Told::Hook);
        all.set("sandbox", Told::Telemetry);
        all.set("moon", Told::Hook);
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(text, "\"-h--t\"");
        assert_eq!(serde_json::from_str::<Provenance>(&text).unwrap(), all);
        assert_eq!((all.of("prompt"), all.of("tool"), all.of("moon")), (Some(Told::Hook), None, None));
        assert_eq!(all.each().collect::<Vec<_>>(), [("prompt", Told::Hook), ("sandbox", Told::Telemetry)]);
        assert!(serde_json::from_str::<Provenance>("\"x\"").is_err());
    }
}

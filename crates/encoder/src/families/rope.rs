//! The fields of config.json for rotary positions, in their older and newer forms.

use serde::Deserialize;

use super::config::ConfigReader;
use crate::blocks::RotaryRates;
use crate::error::EncoderError;

/// The fields in configurations of decoders.
#[derive(Debug, Deserialize)]
pub(super) struct RopeFields {
    #[serde(default)]
    rope_theta: Option<f64>,
    #[serde(default)]
    rope_scaling: Option<Scaling>,
    /// Contains the base and the scaling in newer files.
    #[serde(default)]
    rope_parameters: Option<Scaling>,
}

#[derive(Debug, Deserialize)]
struct Scaling {
    #[serde(default)]
    rope_type: Option<String>,
    /// The same in older files; some have both.
    #[serde(default, rename = "type")]
    older_type: Option<String>,
    #[serde(default)]
    rope_theta: Option<f64>,
    #[serde(default)]
    factor: Option<f64>,
    #[serde(default)]
    low_freq_factor: Option<f64>,
    #[serde(default)]
    high_freq_factor: Option<f64>,
    #[serde(default)]
    original_max_position_embeddings: Option<f64>,
    #[serde(default)]
    partial_rotary_factor: Option<f64>,
}

/// The rates of a head of `head` components.
pub(super) fn rates(
    fields: &RopeFields,
    head: usize,
    checked: &ConfigReader<'_>,
) -> Result<RotaryRates, EncoderError> {
    // Where there are both, transformers uses the older one.
    let (field, scaling) = match (&fields.rope_scaling, &fields.rope_parameters) {
        (Some(older), _) => ("rope_scaling", Some(older)),
        (None, newer) => ("rope_parameters", newer.as_ref()),
    };
    let theta = scaling.and_then(|scaling| scaling.rope_theta).or(fields.rope_theta).unwrap_or(10_000.0);
    if !(theta.is_finite() && theta > 0.0) {
        return Err(checked.bad("rope_theta", theta, "it must be a number above 0"));
    }
    let rates = RotaryRates::new(theta, head);
    let Some(scaling) = scaling else { return Ok(rates) };
    if let Some(part) = scaling.partial_rotary_factor.filter(|part| *part != 1.0) {
        return Err(checked.bad(field, part, "a partial_rotary_factor other than 1 cannot be read"));
    }
    let number = |name: &str, value: Option<f64>| match value {
        Some(value) if value.is_finite() && value > 0.0 => Ok(value),
        found => {
            let found = found.map_or_else(|| "missing".to_owned(), |found| found.to_string());
            Err(checked.bad(&format!("{field}.{name}"), found, "it must be a number above 0"))
        }
    };
    let names = (scaling.rope_type.as_deref(), scaling.older_type.as_deref());
    if let (Some(name), Some(older)) = names
        && name != older
    {
        let expected = format!("rope_type is {name}: the two must agree");
        return Err(checked.bad(&format!("{field}.type"), older, &expected));
    }
    match names.0.or(names.1).unwrap_or("default") {
        "default" => Ok(rates),
        "linear" => {
            let factor = number("factor", scaling.factor)?;
            Ok(rates.map(|rate| rate / factor))
        }
        "llama3" => {
            let factor = number("factor", scaling.factor)?;
            let low = number("low_freq_factor", scaling.low_freq_factor)?;
            let high = number("high_freq_factor", scaling.high_freq_factor)?;
            let known = number("original_max_position_embeddings", scaling.original_max_position_embeddings)?;
            if high <= low {
                let expected = format!("it must be above low_freq_factor, which is {low}");
                return Err(checked.bad(&format!("{field}.high_freq_factor"), high, &expected));
            }
            // Llama 3.1: pairs that rotate often within the trained length are unchanged, those that rotate
            // less than once in `known / low` are slowed down, and those between are interpolated.
            Ok(rates.map(|rate| {
                let turns = known * rate / std::f64::consts::TAU;
                let kept = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - kept) * rate / factor + kept * rate
            }))
        }
        other => Err(checked.bad(field, other, "the rope types default, linear and llama3 can be read")),
    }
}

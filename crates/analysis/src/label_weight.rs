//! Describes how much a text's labels count in its rank.

use dissensus_api::LabelWeight;
use dissensus_project::words::counted;

/// Minimum number of texts whose people could be divided to learn a weight.
const MIN_TEXTS: u32 = 30;

/// The weight as shown, for texts with so many labels.
pub(super) fn shown(found: &dissensus_models::live::LabelWeight, labels: &[u32]) -> LabelWeight {
    let mut several: Vec<u32> = labels.iter().copied().filter(|labels| *labels > 1).collect();
    several.sort_unstable();
    let labels = several.get(several.len() / 2).copied().unwrap_or(0);
    LabelWeight {
        half_at: found.half_at,
        labels,
        weight: found.of(labels as usize),
        texts: found.texts as u32,
    }
}

/// Describes what the ranking is based on.
pub(super) fn basis(weight: &LabelWeight) -> String {
    let texts = counted(weight.texts.into(), "text");
    match weight.half_at {
        Some(_) => format!(
            "Ordered by labels and prediction: {} of a text count {:.0} %, as learned from held-out labels of {texts}.",
            counted(weight.labels.into(), "label"),
            100.0 * weight.weight
        ),
        None if weight.texts == 1 => {
            "Ordered by the prediction: 1 text has four labels or more, too few to learn how much a text's own labels should count."
                .to_owned()
        }
        None if weight.texts < MIN_TEXTS => format!(
            "Ordered by the prediction: {texts} have four labels or more, too few to learn how much a text's own labels should count."
        ),
        None => format!(
            "Ordered by the prediction: in {texts}, how far apart half of the people are adds no information about the other half, so labels count 0 %."
        ),
    }
}

/// Describes what a ranking without a model is based on.
pub(super) const BY_LABELS: &str = "Ordered by labels alone while the annotator models are being fitted.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_states_its_basis() {
        let weight = |half_at, texts| LabelWeight { half_at, labels: 9, weight: 0.34, texts };
        assert_eq!(
            basis(&weight(Some(17.5), 1366)),
            "Ordered by labels and prediction: 9 labels of a text count 34 %, as learned from held-out labels of 1366 texts."
        );
        assert!(basis(&weight(None, 1366)).ends_with("so labels count 0 %."));
        assert!(basis(&weight(None, 1)).contains("1 text has four labels or more, too few"));
    }
}

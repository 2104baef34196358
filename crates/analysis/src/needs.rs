//! Data that figures of disagreement need to be meaningful.

use dissensus_api::DisagreementMeasure;

/// Minimum number of texts with labels of two people or more for figures about disagreement.
pub(super) const FEWEST_SHARED: usize = 5;

/// What is missing if `shared` texts have labels of two people or more; `None` if that is enough for the
/// measure.
pub(super) fn enough(shared: usize, by: DisagreementMeasure) -> Option<String> {
    if shared >= FEWEST_SHARED || by == DisagreementMeasure::Uncertainty {
        return None;
    }
    let have = match shared {
        0 => "No text has labels of two people yet".to_owned(),
        1 => "One text has labels of two people or more".to_owned(),
        _ => format!("{shared} texts have labels of two people or more"),
    };
    Some(format!(
        "{have}. How people differ can be told from {FEWEST_SHARED} such texts on, and well from about 20."
    ))
}

/// What is missing if fewer people than `needed` are `chosen`.
pub(super) fn too_few(chosen: usize, needed: usize) -> String {
    match (chosen, needed) {
        (0, 1) => "There is nobody whose labels could be predicted yet.".to_owned(),
        (0, _) => "People can differ once there are two of them, and there is nobody yet.".to_owned(),
        _ => "People can differ once there are two of them, and this is one person.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_shared_texts_are_said() {
        assert!(enough(0, DisagreementMeasure::Split).unwrap().starts_with("No text"));
        assert!(enough(2, DisagreementMeasure::Split).unwrap().starts_with("2 texts"));
        assert_eq!(enough(5, DisagreementMeasure::Split), None);
        assert_eq!(enough(0, DisagreementMeasure::Uncertainty), None);
    }
}

//! Data that figures of disagreement need to be meaningful.

use super::Analysis;
use dissensus_api::DisagreementMeasure;
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;

/// Minimum number of texts with labels of two people or more for figures about disagreement.
pub(super) const MIN_SHARED: usize = 5;

/// What is missing if `shared` texts have labels of two people or more; `None` if that is enough for the
/// measure.
pub(super) fn enough(shared: usize, by: DisagreementMeasure) -> Option<String> {
    if shared >= MIN_SHARED || by == DisagreementMeasure::Uncertainty {
        return None;
    }
    let have = match shared {
        0 => "No text has labels of two people yet".to_owned(),
        1 => "One text has labels of two people or more".to_owned(),
        _ => format!("{shared} texts have labels of two people or more"),
    };
    Some(format!(
        "{have}. How people differ can be estimated from {MIN_SHARED} such texts on, and well from about 20."
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

/// Notes on the current predictions.
pub(super) fn note_on_labels(cx: &Analysis, live: bool) -> Result<Option<String>, ProjectError> {
    let encoding = cx.encoding.state()?;
    Ok(match (live, &encoding.version) {
        _ if encoding.total == 0 => Some("There are no texts yet: import a file.".to_owned()),
        (false, _) => Some("The annotator models are being fitted.".to_owned()),
        (true, None) => Some(
            "Texts have no embeddings yet: predictions depend on annotators' severity and on labels alone."
                .to_owned(),
        ),
        (true, Some(_)) if encoding.encoded < encoding.total => Some(format!(
            "{} of {} without an embedding yet: predicted as the mean text.",
            encoding.total - encoding.encoded,
            counted(encoding.total.into(), "text")
        )),
        (true, Some(_)) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_shared_texts_are_reported() {
        assert!(enough(0, DisagreementMeasure::Split).unwrap().starts_with("No text"));
        assert!(enough(2, DisagreementMeasure::Split).unwrap().starts_with("2 texts"));
        assert_eq!(enough(5, DisagreementMeasure::Split), None);
        assert_eq!(enough(0, DisagreementMeasure::Uncertainty), None);
    }
}

//! The border between levels at which a text's answers divide, and the people on either side.

use dissensus_api::{Border, GroupDifference, LabelsAbove, PersonOnSide, SideOfBorder};
use dissensus_domain::Annotator;
use dissensus_models::live::OnSide;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use dissensus_training::live::{Fitted, Over};

/// The border at which the chosen people divide most equally: those who labelled the text by their labels,
/// all others as predicted. `None` if levels are unordered or only two.
pub(super) fn border(fitted: &Fitted, row: u32, over: &Over) -> Option<Border> {
    let model = &fitted.model;
    if !model.is_ordinal() {
        return None;
    }
    let level = most_equal(&model.panel_distribution(row, over.mask()))?;
    let (above, interval) = model.share_above(row, level, over.mask(), CONFIDENCE_LEVEL);
    Some(Border { level, above, interval: Some(interval) })
}

/// The border by labels without predictions, counted by level; needs two.
pub(super) fn border_of_labels(counts: &[u32]) -> Option<Border> {
    let all: u32 = counts.iter().sum();
    if all < 2 {
        return None;
    }
    let shares: Vec<f64> = counts.iter().map(|count| f64::from(*count) / f64::from(all)).collect();
    let level = most_equal(&shares)?;
    let above = shares[usize::from(level)..].iter().sum::<f64>() as f32;
    Some(Border { level, above, interval: None })
}

/// People per side who are named.
const NAMED: usize = 3;

/// One side of the border as shown in the window. `all` are all people, by row.
pub(super) fn side(all: &[Annotator], side: &[OnSide]) -> SideOfBorder {
    let labelled = side.iter().filter(|one| one.labelled).count();
    let person = |one: &OnSide| {
        let annotator = all.get(one.annotator as usize)?;
        Some(PersonOnSide { annotator: annotator.id, name: annotator.name.clone(), labelled: one.labelled })
    };
    SideOfBorder {
        labelled: labelled as u32,
        predicted: (side.len() - labelled) as u32,
        people: side.iter().filter_map(person).take(NAMED).collect(),
    }
}

/// The level for which the share of people who answer it, or a higher one, is closest to the share of those
/// below.
fn most_equal(shares: &[f64]) -> Option<u16> {
    if shares.len() < 3 {
        return None;
    }
    let away = |level: &usize| (shares[*level..].iter().sum::<f64>() - 0.5).abs();
    (1..shares.len()).min_by(|a, b| away(a).total_cmp(&away(b))).map(|level| level as u16)
}

/// Labels above the border of the group that differs, and of the one it is compared with.
pub(super) fn labels_above(
    border: Border,
    group: &GroupDifference,
    labels: &[(&Annotator, u16)],
) -> (LabelsAbove, LabelsAbove) {
    let mut sides = [LabelsAbove { above: 0, labels: 0 }; 2];
    for (annotator, level) in labels {
        let Some(value) = annotator.attributes.get(&group.attribute) else { continue };
        let side = match (*value == group.value, &group.against) {
            (true, _) => 0,
            (false, Some(against)) if value != against => continue,
            (false, _) => 1,
        };
        sides[side].labels += 1;
        sides[side].above += u32::from(*level >= border.level);
    }
    (sides[0], sides[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn border_splits_levels_evenly() {
        assert_eq!(most_equal(&[0.4, 0.3, 0.1, 0.1, 0.1]), Some(1));
        assert_eq!(most_equal(&[0.1, 0.3, 0.1, 0.3, 0.2]), Some(3));
        assert_eq!(most_equal(&[0.5, 0.5]), None);
        let border = border_of_labels(&[2, 2, 0, 3, 1]).unwrap();
        assert_eq!((border.level, border.above, border.interval), (2, 0.5, None));
        assert_eq!(border_of_labels(&[1, 0, 0]), None);
    }
}

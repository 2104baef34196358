//! Expected verdicts of panels of one composition on one text.

use super::compose::Composition;
use dissensus_api::{PanelComparison, PanelOthers, PanelVerdict};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_stats::panels::VerdictForecast;

/// Ranges of a probability wider than this are reported as too little data.
const TOO_WIDE: f64 = 0.8;

/// The forecast for one text and one composition.
pub(super) struct Forecast {
    pub(super) verdict: PanelVerdict,
    /// The verdicts of drawn panels.
    pub(super) others: Option<PanelOthers>,
    /// Members of the first panel who answered the text.
    pub(super) answered: u32,
}

impl Forecast {
    /// The forecast for the text in this row of the model.
    pub(super) fn new(model: &LiveModel, text: u32, of: &Composition) -> Result<Self, ProjectError> {
        let joint = model.joint_answers(text, &of.people);
        let first = of.verdicts.of(&joint, &of.panels[0])?;
        let answered =
            of.panels[0].iter().filter(|place| model.label(text, of.people[**place]).is_some()).count();
        let others = match of.panels.len() {
            1 => None,
            _ => {
                let forecasts = of.panels[1..].iter().map(|panel| of.verdicts.of(&joint, panel));
                Some(others(&forecasts.collect::<Result<Vec<_>, _>>()?))
            }
        };
        Ok(Self { verdict: verdict(&first), others, answered: answered as u32 })
    }

    /// Probabilities over all panels of the composition.
    pub(super) fn probabilities(&self) -> &[f64] {
        self.others.as_ref().map_or(&self.verdict.probabilities, |others| &others.probabilities)
    }

    /// Compares this composition with another.
    pub(super) fn compare_with(self, first: &Self) -> PanelComparison {
        let pairs = self.probabilities().iter().zip(first.probabilities());
        let apart = 0.5 * pairs.map(|(a, b)| (a - b).abs()).sum::<f64>();
        PanelComparison { probabilities: self.probabilities().to_vec(), apart, verdict: self.verdict }
    }
}

fn verdict(of: &VerdictForecast) -> PanelVerdict {
    let (likeliest, sure) = of.likeliest();
    let range = of.ranges[likeliest];
    PanelVerdict {
        likeliest: likeliest as u32,
        sure,
        range,
        too_little: range.1 - range.0 > TOO_WIDE,
        mean: of.mean.map(|mean| (1.0 + mean.expected, 1.0 + mean.interval.0, 1.0 + mean.interval.1)),
        probabilities: of.probabilities.clone(),
    }
}

fn others(of: &[VerdictForecast]) -> PanelOthers {
    let (n, outcomes) = (of.len() as f64, of[0].probabilities.len());
    let (mut shares, mut probabilities) = (vec![0.0; outcomes], vec![0.0; outcomes]);
    for one in of {
        shares[one.likeliest().0] += 1.0 / n;
        probabilities.iter_mut().zip(&one.probabilities).for_each(|(sum, p)| *sum += p / n);
    }
    let most = shares.iter().copied().fold(0.0, f64::max);
    PanelOthers { otherwise: (1.0 - most).max(0.0), shares, probabilities }
}

//! Unitizing alpha against published figures and against counting every placement
//! (tools/fixtures/unitizing.py).

#![allow(clippy::unwrap_used)] // helpers of tests stand outside the functions that clippy exempts

use dissensus_stats::agreement::{MarkedUnits, Unitizing, unitizing_alpha};
use serde_json::Value;

struct Case {
    name: String,
    theirs: Value,
    types: Vec<Unitizing>,
}

fn cases() -> Vec<Case> {
    let reference: Value = serde_json::from_str(include_str!("../fixtures/unitizing.json")).unwrap();
    let case = |(name, theirs): (&String, &Value)| {
        let answers = theirs["answers"].as_array().unwrap();
        let size = |answer: &Value, key: &str| answer[key].as_u64().unwrap() as u32;
        let of_type = |kind: usize| {
            let answers = answers.iter().map(|answer| MarkedUnits {
                text: size(answer, "text"),
                length: size(answer, "length"),
                units: serde_json::from_value(answer["units"][kind].clone()).unwrap(),
            });
            unitizing_alpha(&answers.collect::<Vec<_>>()).unwrap()
        };
        let types = (0..theirs["types"].as_array().unwrap().len()).map(of_type).collect();
        Case { name: name.clone(), theirs: theirs.clone(), types }
    };
    reference.as_object().unwrap().iter().map(case).collect()
}

fn near(found: f64, expected: f64, by: f64, what: &str) {
    assert!((found - expected).abs() <= by * expected.abs().max(1.0), "{what}: {found}, not {expected}");
}

#[test]
fn alpha_matches_enumeration() {
    let cases = cases();
    assert_eq!(cases.len(), 5);
    for case in cases {
        for (found, theirs) in case.types.iter().zip(case.theirs["types"].as_array().unwrap()) {
            let number = |key: &str| theirs[key].as_f64().unwrap();
            near(found.observed, number("observed"), 1e-12, &case.name);
            near(found.expected, number("expected"), 1e-12, &case.name);
            near(found.alpha.unwrap(), number("alpha"), 1e-12, &case.name);
        }
        let together = Unitizing::together(&case.types).alpha.unwrap();
        near(together, case.theirs["alpha"].as_f64().unwrap(), 1e-12, &case.name);
    }
}

/// The published figures, to their last digit; the published disagreements are per character of each answer.
#[test]
fn alpha_matches_published_examples() {
    let cases = cases();
    let find = |name: &str| cases.iter().find(|case| case.name == name).unwrap();
    let book = find("krippendorff2004");
    let per = 2.0 * 300.0 * 300.0;
    for (found, (observed, expected, alpha)) in
        book.types.iter().zip([(0.0144, 0.0532, 0.7286), (0.0, 0.0490, 1.0)])
    {
        near(found.observed / per, observed, 5e-5, "observed");
        near(found.expected / per, expected, 5e-5, "expected");
        near(found.alpha.unwrap(), alpha, 5e-5, "alpha");
    }
    near(
        Unitizing::together(&book.types).alpha.unwrap(),
        0.8591,
        5e-4,
        "of both, printed from rounded figures",
    );
    let paper = find("krippendorff1995");
    for (found, observed) in paper.types.iter().zip([0.03125, 2.26736, 0.02777, 0.38715]) {
        near(found.observed / (2.0 * 24.0 * 24.0), observed, 1e-5, "observed");
    }
    // Published for a continuum of the finest resolution.
    let fine = find("krippendorff1995, 20 times finer");
    for (found, alpha) in fine.types.iter().zip([0.553, -0.926, 0.679, 0.066]) {
        near(found.alpha.unwrap(), alpha, 0.02, "alpha");
    }
}

//! A model of words for texts that are not in the project: predicted marks of annotators, as a table.

use crate::encoding::CheckedTexts;
use crate::learned_words::LearnedWords;
use crate::prediction_table::PredictedAnnotator;
use dissensus_encoder::{Encoder, WordStates};
use dissensus_exchange::{ColumnKind, TextOfFile, TypedColumn, TypedTable, Value};
use dissensus_models::spans::{ExpectedMarks, LiveSpans, OwnEffects, SpanTexts, WordFeatures};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::text_words::{Forms, words};
use dissensus_store::body_hash;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum number of texts that are read together, and their maximum bytes, because the states of a word
/// take kilobytes.
const TOGETHER: (usize, usize) = (64, 96 << 10);

/// Positions of the words of a text, in characters.
type Places = Vec<(u32, u32)>;

/// The parts of a model of words and of the annotators that are needed to predict, without texts and
/// answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WordPredictor {
    pub learned: LearnedWords,
    /// The hidden states that the heads use.
    pub states: WordStates,
    /// For each annotator the effects in the marks of each type.
    #[serde(rename = "readiness")]
    pub effects: Vec<Vec<OwnEffects>>,
    /// For each annotator the number of answers from which the effects are estimated; this does not leave
    /// the project.
    #[serde(skip)]
    pub answers: Vec<u32>,
}

/// Summary of a written table of predicted words.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordPredictionFile {
    pub file: PathBuf,
    pub question: String,
    pub types: Vec<String>,
    /// Texts predicted.
    pub texts: u64,
    /// Annotators over whom `expected` and `differ` are computed.
    pub annotators: usize,
    /// How many of them have no answer; they count as the average person.
    pub annotators_without_labels: usize,
    /// Rows, one for each word and type.
    pub rows: u64,
    /// Texts whose body has an answer in the project or trained its encoder, from which the model has
    /// learned. `None` if it is not known.
    pub observed: Option<u64>,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

pub struct WordOfBody {
    pub word: String,
    /// Its first character, and the one after its last.
    pub start: u32,
    pub end: u32,
    /// For each type the share of people who would mark it, and the probability that two of them differ.
    pub types: Vec<(f64, f64)>,
}

/// The parameters of a table of words.
pub struct WordRequest<'a> {
    pub question: &'a str,
    pub types: &'a [String],
    /// The annotators whose marks are predicted.
    pub chosen: &'a [PredictedAnnotator],
    /// Hashes of bodies that the model has learned from; `None` if they are not known.
    pub observed: Option<&'a HashSet<[u8; 32]>>,
    /// Whether each of them has a column.
    pub each: bool,
    pub out: &'a Path,
    pub replace: bool,
}

impl WordRequest<'_> {
    /// Whether the model has learned from a text of the same body.
    fn has_seen(&self, text: &TextOfFile) -> Option<bool> {
        self.observed.map(|known| body_hash(&text.body).is_some_and(|hash| known.contains(&hash)))
    }
}

impl WordPredictor {
    /// Why its parts are inconsistent, or do not match the encoder, question or number of annotators.
    pub fn misfit(&self, encoder: Option<&Encoder>, types: usize, annotators: usize) -> Option<String> {
        let heads = &self.learned.heads;
        if heads.len() != types || self.effects.iter().any(|own| own.len() != types) {
            return Some(format!("it is not of {types} types"));
        }
        if self.effects.len() != annotators {
            return Some(format!("it is not of {annotators} annotators"));
        }
        if heads.iter().any(|head| head.forms.len() != self.learned.forms.len()) {
            return Some("its effects of words are not as many as its words".to_owned());
        }
        if !self.effects.iter().flatten().all(OwnEffects::is_sound) {
            return Some("an effect of an annotator is no number".to_owned());
        }
        let dim = encoder.map(|encoder| encoder.word_dim(self.states));
        match dim {
            Some(dim) if heads.iter().any(|head| head.states.len() != dim) => {
                Some(format!("its heads are not on the {dim} components of the encoder's words"))
            }
            _ => None,
        }
    }

    /// Predicts which words of the texts of a file people would mark: a row for each word and type with the
    /// share of the chosen people who would, the probability that two of them differ, and, if requested,
    /// each person's probability.
    ///
    /// # Errors
    /// A full disk; a file of texts that has changed; a cancel. An unfinished table is deleted.
    pub fn write_file(
        &self,
        asked: &WordRequest<'_>,
        texts: &CheckedTexts,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<WordPredictionFile, ProjectError> {
        let named = if asked.each { asked.chosen } else { &[] };
        let text = |name: &str| TypedColumn::new(name, ColumnKind::Text);
        let number = |name: String| TypedColumn::new(name, ColumnKind::Number);
        let mut columns = vec![
            text("text_id"),
            number("start".to_owned()),
            number("end".to_owned()),
            text("word"),
            text("type"),
            number("expected".to_owned()),
            number("differ".to_owned()),
            // A flag is yes or no; a number can be missing.
            TypedColumn::new(
                "observed",
                if asked.observed.is_some() { ColumnKind::Flag } else { ColumnKind::Number },
            ),
        ];
        columns.extend(named.iter().map(|one| number(format!("p_{}", one.id))));
        let mut table = TypedTable::create(asked.out, columns)?;
        let mut written = WordPredictionFile {
            file: asked.out.to_owned(),
            question: asked.question.to_owned(),
            types: asked.types.to_vec(),
            texts: 0,
            annotators: asked.chosen.len(),
            annotators_without_labels: asked.chosen.iter().filter(|one| !one.has_labels).count(),
            rows: 0,
            observed: asked.observed.map(|_| 0),
            bad_rows: texts.bad(),
        };
        texts.in_chunks(TOGETHER, progress, |chunk| {
            let (live, places) = self.read(chunk, encoder, progress)?;
            for ((row, text), places) in (0..).zip(chunk).zip(&places) {
                written.rows += write_text(&mut table, asked, named, &live, (row, text), places)?;
                written.texts += 1;
                written.observed =
                    written.observed.map(|sum| sum + u64::from(asked.has_seen(text) == Some(true)));
            }
            Ok(())
        })?;
        table.finish(asked.replace)?;
        Ok(written)
    }

    /// The words of one text, over all people with known effects.
    ///
    /// # Errors
    /// The text cannot be read by the encoder; a cancel.
    pub fn words_of(
        &self,
        body: &str,
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<Vec<WordOfBody>, ProjectError> {
        let text = TextOfFile { id: String::new(), body: body.to_owned() };
        let (live, places) = self.read(&[text], encoder, progress)?;
        let people: Vec<u32> = (0..self.effects.len() as u32).collect();
        let expected = live.expected(0, &people).unwrap_or_default();
        let characters: Vec<char> = body.chars().collect();
        let places = places.into_iter().next().unwrap_or_default();
        let word = |((start, end), of): ((u32, u32), &ExpectedMarks)| WordOfBody {
            word: characters[start as usize..end as usize].iter().collect(),
            start,
            end,
            types: of.types.iter().map(|of| (of.marks, of.pairs)).collect(),
        };
        Ok(places.into_iter().zip(&expected).map(word).collect())
    }

    /// A model of the words of these texts, identified by their indices, and the positions of their words.
    fn read(
        &self,
        chunk: &[TextOfFile],
        encoder: &Encoder,
        progress: &dyn Progress,
    ) -> Result<(LiveSpans, Vec<Places>), ProjectError> {
        let bodies: Vec<&str> = chunk.iter().map(|text| text.body.as_str()).collect();
        let places: Vec<Places> = bodies.iter().map(|body| words(body)).collect();
        let mut states = vec![Vec::new(); chunk.len()];
        let whole = encoder.word_states(&bodies, &places, self.states, |text, own| {
            states[text] = own;
            progress.flow()
        })?;
        if !whole {
            return Err(ProjectError::Cancelled);
        }
        let mut texts = SpanTexts::new(encoder.word_dim(self.states));
        let mut forms = Forms::default();
        for (states, body) in states.iter().zip(&bodies) {
            texts.push(WordFeatures { states, forms: &forms.add(body) })?;
        }
        let rows: Vec<u32> = (0..chunk.len() as u32).collect();
        let mut live = LiveSpans::new(&self.learned.model(&forms)?, &texts, &rows)?;
        for (annotator, effects) in (0..).zip(&self.effects) {
            live.set_effects(annotator, effects.clone())?;
        }
        Ok((live, places))
    }
}

/// Writes the rows of one text, and returns their number.
fn write_text(
    table: &mut TypedTable,
    asked: &WordRequest<'_>,
    named: &[PredictedAnnotator],
    live: &LiveSpans,
    (row, text): (u32, &TextOfFile),
    places: &Places,
) -> Result<u64, ProjectError> {
    let people: Vec<u32> = asked.chosen.iter().map(|one| one.row).collect();
    let all = live.expected(row, &people).unwrap_or_default();
    let own: Vec<_> = named.iter().map(|one| live.expected(row, &[one.row]).unwrap_or_default()).collect();
    let characters: Vec<char> = text.body.chars().collect();
    let seen = asked.has_seen(text);
    let mut rows = 0;
    for (at, &(start, end)) in places.iter().enumerate() {
        let word: String = characters[start as usize..end as usize].iter().collect();
        for (of_type, name) in asked.types.iter().enumerate() {
            let found = all[at].types[of_type];
            // Undefined for a single person.
            let differ = if people.len() < 2 { f32::NAN } else { found.pairs as f32 };
            let mut values = vec![
                Value::Text(&text.id),
                Value::Number(start as f32),
                Value::Number(end as f32),
                Value::Text(&word),
                Value::Text(name),
                Value::Number(found.marks as f32),
                Value::Number(differ),
                seen.map_or(Value::Number(f32::NAN), Value::Flag),
            ];
            values.extend(own.iter().map(|own| Value::Number(own[at].types[of_type].marks as f32)));
            table.write(&values)?;
            rows += 1;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_models::spans::TypeHead;

    #[test]
    fn inconsistent_word_models_are_refused() {
        let head = TypeHead {
            constant: 0.0,
            states: vec![0.5; 4],
            forms: vec![1.0],
            readiness_variance: 1.0,
            population: None,
            word_variance: 0.0,
            threshold: 0.5,
            rate: 0.1,
        };
        let learned = LearnedWords { question: 1, answers: 3, forms: vec![7], heads: vec![head] };
        let good = WordPredictor {
            learned,
            states: WordStates::Last,
            effects: vec![vec![OwnEffects::of_readiness(0.0, 1.0)]; 2],
            answers: vec![3, 0],
        };
        let why = |of: &WordPredictor| of.misfit(None, 1, 2);
        assert_eq!(why(&good), None);
        assert!(good.misfit(None, 2, 2).unwrap().contains("2 types"));
        assert!(good.misfit(None, 1, 3).unwrap().contains("3 annotators"));
        let mut other = good.clone();
        other.effects[1] = vec![OwnEffects::of_readiness(f64::NAN, 1.0)];
        assert!(why(&other).unwrap().contains("effect of an annotator"));
        other.effects[1] = vec![OwnEffects::of_readiness(0.0, -1.0)];
        assert!(why(&other).unwrap().contains("effect of an annotator"));
        let mut other = good.clone();
        other.learned.heads[0].forms.push(0.0);
        assert!(why(&other).unwrap().contains("effects of words"));
        let kept = serde_json::to_string(&good).unwrap();
        assert!(!kept.contains("answers\":["), "how much somebody labelled stays: {kept}");
        let back: WordPredictor = serde_json::from_str(&kept).unwrap();
        assert_eq!(why(&back), None);
    }
}

//! An order of answers that is the same in all copies of a project. Levels added to a question have
//! different row ids in each copy, so row ids would order simultaneous answers from separate copies
//! differently. This order ranks added levels by their initial names instead.

use crate::levels::{ever, with_levels};
use crate::tx::all;
use dissensus_domain::{Answer, LevelId, QuestionId};
use rusqlite::Connection;
use std::collections::HashMap;

/// The rank of each row id, for questions to which levels were added.
pub(crate) struct LevelOrder(HashMap<QuestionId, Vec<u16>>);

impl LevelOrder {
    /// Computes the ranks of the current levels.
    pub(crate) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT question, min(json_extract(value, '$.began')) FROM facts
                   WHERE kind = 'levels' AND question IS NOT NULL GROUP BY question";
        let edited = all(conn, sql, [], |r| Ok((QuestionId(r.get(0)?), usize::from(r.get::<_, u16>(1)?))))?;
        let mut ranks = HashMap::new();
        for (question, began) in edited {
            let keys = ever(conn, question)?;
            let mut rows: Vec<usize> = (0..keys.len()).collect();
            rows[began.min(keys.len())..].sort_by_key(|row| &keys[*row]);
            if rows.is_sorted() {
                continue;
            }
            let mut rank = vec![0; rows.len()];
            (0..).zip(rows).for_each(|(at, row)| rank[row] = at);
            ranks.insert(question, rank);
        }
        Ok(Self(ranks))
    }

    /// The rank of a level, in place of its id.
    pub(crate) fn rank(&self, question: QuestionId, level: LevelId) -> LevelId {
        let ranks = self.0.get(&question.row());
        ranks.and_then(|ranks| ranks.get(usize::from(level.0))).map_or(level, |rank| LevelId(*rank))
    }

    /// A sort key for a stored answer: its JSON with row ids replaced by ranks.
    pub(crate) fn key(&self, question: QuestionId, answer: &Answer) -> String {
        let ranked = with_levels(answer.clone(), |level| self.rank(question, level));
        serde_json::to_string(&ranked).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::OptionSet;

    #[test]
    fn answers_are_ordered_by_level_rank() {
        let order = LevelOrder(HashMap::from([(QuestionId(1), vec![0, 2, 1])]));
        let key = |question, answer| order.key(QuestionId(question), &answer);
        assert!(key(1, Answer::from_level(2)) < key(1, Answer::from_level(1)));
        assert!(key(2, Answer::from_level(1)) < key(2, Answer::from_level(2)));
        let options = |options: &[u8]| Answer::Options(OptionSet::new(options.to_vec()).unwrap());
        assert_eq!(key(1, options(&[0, 1])), key(2, options(&[0, 2])));
    }
}

//! The text that people agree to before they answer, in versions, and who agreed to which.
//!
//! Both are facts, so every version stays in the log, and the last one is in effect. An agreement names its
//! version by the SHA-256 of the text, which anybody can compute again. The version under which an answer was
//! given is the one that its annotator had agreed to last at that time.

use super::{About, Kind, SETTING, checked, refused, select};
use crate::row::bad;
use crate::tx::first;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Event, Fact, FactKind, LabelSource};
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The text; null asks for no agreement from then on.
pub(super) const TEXT: Kind = Kind {
    about: About::Project,
    check: |_, fact| match &fact.value {
        Value::Null => Ok(()),
        Value::String(body) if !body.trim().is_empty() => Ok(()),
        _ => Err(refused(fact, "it is no text, or an empty one")),
    },
    ..SETTING
};

/// An agreement: the version of the text.
pub(super) const GIVEN: Kind = Kind {
    about: About::Annotator,
    check: |_, fact| {
        let version: String = checked(fact)?;
        match version.len() == 64 && version.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            true => Ok(()),
            false => Err(refused(fact, "it names no version of the consent text")),
        }
    },
    ..SETTING
};

/// The setting of a task packet with the number of versions before the one in the packet.
const BEFORE: &str = "consent.before";

/// A version of the text. A text that is asked for again is the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentVersion {
    /// SHA-256 of the text, in hexadecimal digits.
    pub version: String,
    /// Its number in the order of time, from 1; in a task packet, the number in its project.
    pub number: u32,
    /// When it was first written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub body: String,
}

/// All versions of the text, and who agreed to them.
#[derive(Clone, Debug, Default)]
pub struct Consents {
    versions: Vec<ConsentVersion>,
    in_effect: Option<String>,
    /// The agreements of each annotator, by time.
    given: HashMap<AnnotatorId, Vec<(i64, String)>>,
}

impl Consents {
    /// All versions, by number.
    pub fn versions(&self) -> &[ConsentVersion] {
        &self.versions
    }

    /// The version that people are asked to agree to.
    pub fn in_effect(&self) -> Option<&ConsentVersion> {
        self.versions.iter().find(|one| Some(&one.version) == self.in_effect.as_ref())
    }

    /// The version in effect, if an annotator has not agreed to it.
    pub fn left(&self, annotator: AnnotatorId) -> Option<&ConsentVersion> {
        self.in_effect().filter(|one| self.last(annotator) != Some(&one.version))
    }

    /// The annotators who agreed last to a version, in the order of their ids.
    pub fn agreed_to(&self, version: &str) -> Vec<AnnotatorId> {
        let mut all: Vec<AnnotatorId> =
            self.given.keys().copied().filter(|id| self.last(*id) == Some(version)).collect();
        all.sort_unstable();
        all
    }

    /// The number of the version under which an answer was given; none for imported and simulated ones.
    pub fn number_of(&self, answer: &Event) -> Option<u32> {
        self.number_at(answer.source, answer.annotator, answer.at_ms)
    }

    /// Like [`Consents::number_of`], of an answer with this source and time.
    pub fn number_at(&self, source: LabelSource, annotator: AnnotatorId, at_ms: i64) -> Option<u32> {
        if !source.is_given() {
            return None;
        }
        let before = self.given.get(&annotator)?.iter().rev().find(|(agreed_ms, _)| *agreed_ms <= at_ms);
        let (_, version) = before?;
        self.versions.iter().find(|one| one.version == *version).map(|one| one.number)
    }

    fn last(&self, annotator: AnnotatorId) -> Option<&str> {
        self.given.get(&annotator)?.last().map(|(_, version)| version.as_str())
    }
}

fn version_of(body: &str) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn consents(c: &Connection) -> rusqlite::Result<Consents> {
    let sql = "SELECT CAST(value AS INTEGER) FROM settings WHERE key = ?1";
    let before: u32 = first(c, sql, [BEFORE], |r| r.get(0))?.unwrap_or(0);
    let mut found = Consents::default();
    for Fact { value, at_ms, .. } in select(c, "WHERE kind = ?1", [FactKind::Consent.name()])? {
        let Value::String(body) = value else {
            found.in_effect = None;
            continue;
        };
        let version = version_of(&body);
        found.in_effect = Some(version.clone());
        if found.versions.iter().all(|known| known.version != version) {
            let number = before + u32::try_from(found.versions.len()).map_err(|e| bad(6, e))? + 1;
            found.versions.push(ConsentVersion { version, number, at_ms, body });
        }
    }
    for Fact { annotator, value, at_ms, .. } in select(c, "WHERE kind = ?1", [FactKind::ConsentGiven.name()])?
    {
        if let (Some(annotator), Value::String(version)) = (annotator, value) {
            found.given.entry(annotator).or_default().push((at_ms, version));
        }
    }
    Ok(found)
}

impl WriteTx<'_> {
    /// Sets the text that people are asked to agree to from now on; `None` asks nobody. Returns whether this
    /// is a change.
    ///
    /// # Errors
    /// The text is blank.
    pub fn set_consent(&mut self, body: Option<&str>, at_ms: i64) -> Result<bool> {
        self.set_fact(&Fact::of_project(FactKind::Consent, at_ms, body))
    }

    /// Records that an annotator agrees to a version from now on, with a time after all of their answers,
    /// which stay with the version that they were given under.
    ///
    /// # Errors
    /// There is no such annotator or version.
    pub fn agree_to(&mut self, annotator: AnnotatorId, version: &str, now_ms: i64) -> Result<bool> {
        if !self.consent_versions()?.iter().any(|known| known == version) {
            let what = "version of the consent text";
            return Err(StoreError::Unknown { what, name: version.to_owned() });
        }
        let fact = Fact::of_project(
            FactKind::ConsentGiven,
            self.after_given(annotator, now_ms)?,
            version.to_owned(),
        );
        self.set_fact(&Fact { annotator: Some(annotator), ..fact })
    }

    /// The names of all versions that ever were in effect.
    pub(crate) fn consent_versions(&self) -> Result<Vec<String>> {
        Ok(self.consents()?.versions.into_iter().map(|one| one.version).collect())
    }

    /// All versions of the text, and who agreed to them.
    pub fn consents(&self) -> Result<Consents> {
        consents(self.conn).map_err(|e| self.explain("reading the consent text", e))
    }

    /// When an annotator last agreed to a version.
    pub(crate) fn newest_agreement_at(&self, annotator: AnnotatorId) -> Result<Option<i64>> {
        let sql = "SELECT max(at_ms) FROM facts WHERE kind = ?1 AND coalesce(question, 0) = 0
                   AND coalesce(text, 0) = 0 AND coalesce(annotator, 0) = ?2";
        Ok(self.first(sql, (FactKind::ConsentGiven.name(), annotator.0), |r| r.get(0))?.flatten())
    }

    /// Sets the number of the version in this task packet.
    pub(crate) fn number_consent(&mut self, number: u32) -> Result<()> {
        self.set_setting(BEFORE, &(number - 1))
    }
}

impl Store {
    /// All versions of the text that people agree to, and who agreed to them.
    pub fn consents(&self) -> Result<Consents> {
        self.read("reading the consent text", consents)
    }
}

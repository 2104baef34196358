//! In-memory index of texts, annotators and questions of the open project: maps ids to rows of the models'
//! arrays and back.

use crate::error::ProjectError;
use dissensus_domain::{
    Annotator, AnnotatorId, NoteForm, Question, QuestionHelp, QuestionId, Scale, TextId, composed,
};
use dissensus_store::Store;
use std::collections::{HashMap, HashSet};

/// In-memory index. Rows are stable: texts and annotators are only ever added. Bodies stay in the file.
pub struct Index {
    texts: Vec<TextId>,
    text_rows: HashMap<TextId, u32>,
    annotators: Vec<Annotator>,
    annotator_rows: HashMap<AnnotatorId, u32>,
    questions: Vec<Question>,
    /// The options of multi-label questions, each as a yes/no question.
    options: Vec<Question>,
}

impl Index {
    pub(crate) fn load(store: &Store) -> Result<Self, ProjectError> {
        let texts = store.text_ids()?;
        let mut annotators = store.annotators()?;
        annotators.sort_unstable_by_key(|a| a.id);
        let questions = store.questions()?;
        Ok(Self {
            text_rows: texts.iter().enumerate().map(|(row, id)| (*id, row as u32)).collect(),
            annotator_rows: annotators.iter().enumerate().map(|(row, a)| (a.id, row as u32)).collect(),
            texts,
            annotators,
            options: questions.iter().flat_map(Question::options).collect(),
            questions,
        })
    }

    pub fn texts(&self) -> &[TextId] {
        &self.texts
    }

    pub fn text_row(&self, id: TextId) -> Option<u32> {
        self.text_rows.get(&id).copied()
    }

    pub fn annotators(&self) -> &[Annotator] {
        &self.annotators
    }

    pub fn annotator_row(&self, id: AnnotatorId) -> Option<u32> {
        self.annotator_rows.get(&id).copied()
    }

    /// Finds the annotator with this external id or, if there is none, with this display name.
    pub fn annotator_named(&self, name: &str) -> Option<&Annotator> {
        let find = |name: &str| {
            let external = self.annotators.iter().find(|a| a.external_id == name);
            external.or_else(|| self.annotators.iter().find(|a| a.name == name))
        };
        // First verbatim, then trimmed, then regardless of how accents are encoded in both.
        let typed = composed(name.trim());
        let same = |known: &str| composed(known) == typed;
        find(name).or_else(|| find(name.trim())).or_else(|| {
            let external = self.annotators.iter().find(|a| same(&a.external_id));
            external.or_else(|| self.annotators.iter().find(|a| same(&a.name)))
        })
    }

    /// Finds the annotator with the given name, see [`Index::annotator_named`].
    ///
    /// # Errors
    /// There is no annotator of that name.
    pub fn find_annotator(&self, name: &str) -> Result<&Annotator, ProjectError> {
        self.annotator_named(name).ok_or_else(|| {
            let few: Vec<&str> = self.annotators.iter().take(5).map(|a| a.external_id.as_str()).collect();
            let more = self.annotators.len().saturating_sub(few.len());
            let known = match (few.is_empty(), more) {
                (true, _) => "nobody yet".to_owned(),
                (false, 0) => few.join(", "),
                (false, more) => format!("{} and {more} more", few.join(", ")),
            };
            ProjectError::NoSuchAnnotator { name: name.to_owned(), known }
        })
    }

    /// Finds the question with this name (of an option `QUESTION: OPTION`), or the only one.
    ///
    /// # Errors
    /// There is none of that name, none at all, or there are several and no name was given.
    pub fn find_question(&self, name: Option<&str>) -> Result<&Question, ProjectError> {
        let names = || self.questions.iter().map(|q| q.name.as_str()).collect::<Vec<_>>().join(", ");
        match (name, self.questions()) {
            (_, []) => Err(ProjectError::NoQuestion),
            (None, [only]) => Ok(only),
            (None, _) => Err(ProjectError::WhichQuestion(names())),
            (Some(name), all) => all
                .iter()
                .chain(&self.options)
                .find(|q| q.name == name)
                .ok_or_else(|| ProjectError::NoSuchQuestion { name: name.to_owned(), known: names() }),
        }
    }

    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// A question, or an option of one.
    pub fn question(&self, id: QuestionId) -> Option<&Question> {
        self.questions.iter().chain(&self.options).find(|q| q.id == id)
    }

    /// A question that is answered with one of its levels: the unit of models and figures.
    ///
    /// # Errors
    /// There is no such question, or it is a multi-label question, whose options are asked one by one.
    pub fn with_levels(&self, id: QuestionId) -> Result<&Question, ProjectError> {
        let found = self.question(id).ok_or(ProjectError::NoQuestion)?;
        match found.options().into_iter().next() {
            None => Ok(found),
            Some(first) => Err(ProjectError::OneOption {
                question: found.name.clone(),
                options: found.scale.len(),
                first: first.name,
            }),
        }
    }

    /// A question that annotators answer.
    ///
    /// # Errors
    /// There is no such question, or it is an option of one: its question is answered as a whole.
    pub fn whole(&self, id: QuestionId) -> Result<&Question, ProjectError> {
        let found = self.question(id.row()).ok_or(ProjectError::NoQuestion)?;
        match self.question(id).filter(|asked| asked.id != found.id) {
            None => Ok(found),
            Some(option) => {
                Err(ProjectError::WholeQuestion { option: option.name.clone(), question: found.name.clone() })
            }
        }
    }

    /// The option with this name, as a question.
    pub fn option_named(&self, name: &str) -> Option<&Question> {
        self.options.iter().find(|q| q.name == name)
    }

    /// Whether a question or an option has this name.
    pub fn is_taken(&self, name: &str) -> bool {
        self.questions.iter().chain(&self.options).any(|q| q.name == name)
    }

    /// Checks that no option of a new or renamed question has the name of a question or of an option of
    /// another, and that sets with its new options read back.
    ///
    /// # Errors
    /// The name of the conflicting option.
    pub fn check_options(&self, question: &str, scale: &Scale) -> Result<(), ProjectError> {
        let own = self.questions.iter().find(|known| known.name == question);
        scale.check_new(own.map_or(&[], |own| own.scale.levels()))?;
        let own = own.map(|own| own.id);
        let others = self.questions.iter().chain(&self.options);
        let others: HashSet<&str> =
            others.filter(|q| Some(q.id.row()) != own).map(|q| q.name.as_str()).collect();
        let (name, prompt) = (question.to_owned(), String::new());
        let new = Question {
            id: QuestionId(0),
            name,
            prompt,
            help: QuestionHelp::default(),
            scale: scale.clone(),
            definitions: Vec::new(),
            cannot_say: false,
            only_if: None,
            note_form: NoteForm::default(),
        };
        match new.options().into_iter().find(|option| others.contains(option.name.as_str())) {
            None => Ok(()),
            Some(option) => {
                let (name, why) = (option.name, "is that of another question: choose another name or option");
                Err(ProjectError::Name { what: "option", name, why })
            }
        }
    }

    /// The units that models learn for a question: each of its options, or the question itself. Empty for
    /// an unknown question.
    pub fn learned(&self, id: QuestionId) -> Vec<QuestionId> {
        match self.question(id) {
            Some(found) if found.scale.has_options() => {
                found.options().iter().map(|option| option.id).collect()
            }
            Some(found) => vec![found.id],
            None => Vec::new(),
        }
    }

    /// All questions that are answered with one of their levels, including options.
    pub fn all_with_levels(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|q| !q.scale.has_options()).chain(&self.options)
    }
}

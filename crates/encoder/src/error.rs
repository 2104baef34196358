//! Errors of encoders, their folders and the texts given to them.

use std::path::PathBuf;

/// An error, with its location and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// No folder of this name exists in any of the searched places.
    #[error("the encoder \"{name}\" is not on this machine (looked in {}): {advice}", places(searched))]
    Missing {
        /// The requested name.
        name: String,
        /// The searched folders.
        searched: Vec<PathBuf>,
        /// How to get it.
        advice: String,
    },
    /// The folder does not exist.
    #[error(
        "there is no folder {}: name an encoder folder with config.json, tokenizer.json and model.safetensors, or a repository on the \
         model hub as owner/name@main", .0.display()
    )]
    NoFolder(PathBuf),
    /// The path is a file.
    #[error("{} is a file: name the folder that holds config.json, tokenizer.json and model.safetensors, or a .gguf file", .0.display())]
    NotAFolder(PathBuf),
    /// Files that an encoder needs are missing.
    #[error("{} lacks {}: an encoder folder needs config.json, tokenizer.json and model.safetensors", dir.display(), files.join(", "))]
    MissingFiles {
        dir: PathBuf,
        /// The missing files, relative to it.
        files: Vec<String>,
    },
    /// The only weights are a Python pickle, which runs code when it is read.
    #[error(
        "{} has its weights only as {found}, which can run code when it is opened and is never read: convert it in Python, \
         `from transformers import AutoModel; AutoModel.from_pretrained(\"{}\").save_pretrained(\"{}\", safe_serialization=True)`",
        dir.display(), dir.display(), dir.display()
    )]
    PickleOnly {
        dir: PathBuf,
        /// The file found in place of model.safetensors.
        found: String,
    },
    /// A weights file that the index names is missing.
    #[error("{} names {}, which is not there: fetch or copy the missing file, all of them belong together", index.display(), shard.display())]
    ShardMissing {
        /// model.safetensors.index.json.
        index: PathBuf,
        /// The missing file.
        shard: PathBuf,
    },
    /// A weights file lacks a tensor that the index assigns to it.
    #[error("{} places the tensor \"{tensor}\" in {shard}, which does not hold it: fetch or copy these files again, they do not belong together", index.display())]
    ShardLacks {
        /// model.safetensors.index.json.
        index: PathBuf,
        tensor: String,
        shard: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A configuration file is not JSON, or a field is missing or of the wrong kind.
    #[error("{} is not a configuration that can be read: {reason}", path.display())]
    BadJson {
        path: PathBuf,
        /// The parser's message, with line and column.
        reason: String,
    },
    /// The architecture is not supported.
    #[error("{} is of the family \"{family}\", which is not readable yet: the readable families are {known}", dir.display())]
    Family {
        dir: PathBuf,
        /// `model_type` of its config.json.
        family: String,
        /// The supported families.
        known: String,
    },
    /// A field of the configuration has an unsupported value.
    #[error("{}: {field} is {found}, which cannot be used: {expected}", path.display())]
    BadConfig {
        path: PathBuf,
        field: String,
        /// Its value.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// The weights file is truncated or corrupted.
    #[error("{} is damaged or was cut off ({reason}): fetch or copy it again", path.display())]
    DamagedWeights {
        path: PathBuf,
        /// What is wrong with the file.
        reason: String,
    },
    /// A GGUF file that cannot be read, or has unsupported contents.
    #[error("{} cannot be read as GGUF weights: {reason}", path.display())]
    Gguf {
        path: PathBuf,
        /// What is wrong with the file.
        reason: String,
    },
    /// A folder with several GGUF files, which may be quantisations of one model or different models.
    #[error("{} holds {} GGUF files ({}): name the one that is meant", dir.display(), files.len(), names(files))]
    SeveralGguf {
        dir: PathBuf,
        /// The GGUF files in it.
        files: Vec<PathBuf>,
    },
    /// A tensor that the architecture needs is missing.
    #[error("{} has no tensor \"{name}\" (expected with shape {expected:?}): do config.json and the weights belong together?", path.display())]
    MissingTensor {
        path: PathBuf,
        name: String,
        /// Its shape according to config.json.
        expected: Vec<usize>,
    },
    /// A tensor's shape differs from the one that the configuration requires.
    #[error("{}: the tensor \"{name}\" has the shape {found:?}, and config.json asks for {expected:?}", path.display())]
    TensorShape {
        path: PathBuf,
        name: String,
        /// Its shape according to config.json.
        expected: Vec<usize>,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// A tensor is stored in an unsupported number format.
    #[error("{}: the tensor \"{name}\" is stored as {found}: save the weights as F32, F16 or BF16", path.display())]
    TensorType {
        path: PathBuf,
        name: String,
        /// The number format found.
        found: String,
    },
    /// A weight is not finite.
    #[error("{}: the tensor \"{name}\" holds {found} at position {position}: the training that made it went wrong, or the file is damaged", path.display())]
    NotFinite {
        path: PathBuf,
        name: String,
        /// NaN or infinite.
        found: f32,
        /// Its index in the flattened tensor.
        position: usize,
    },
    /// tokenizer.json cannot be read.
    #[error("{} is not a tokenizer that can be read: {reason}", path.display())]
    BadTokenizer {
        path: PathBuf,
        /// The tokenizer library's message.
        reason: String,
    },
    /// The tokenizer has more tokens than the model has embeddings.
    #[error("{}: the tokenizer has token ids up to {highest}, and the model has embeddings for {embeddings} tokens: tokenizer.json and model.safetensors do not belong together", dir.display())]
    Vocabulary {
        dir: PathBuf,
        /// The largest token id.
        highest: u32,
        /// Rows of the word embedding.
        embeddings: usize,
    },
    /// A file of a catalogue encoder has a checksum other than the one in the catalogue.
    #[error(
        "{} is not the file of {name} that the catalogue lists (sha256 {found}, expected {expected}): the download is damaged or the file was changed. \
         Remove the folder and download it again, or give a folder of your own another name", path.display()
    )]
    Checksum {
        name: String,
        path: PathBuf,
        /// The catalogue's checksum.
        expected: String,
        found: String,
    },
    /// A pooling that cannot be determined or is unknown.
    #[error(
        "{where_}: pooling \"{found}\" is not known: choose one of mean, cls, last, max, mean2, max2, pooler"
    )]
    Pooling {
        /// The file or option.
        where_: String,
        /// The value found.
        found: String,
    },
    /// modules.json requires an unsupported step between pooling and embedding.
    #[error("{} asks for the module \"{module}\", which is not readable: without it the embeddings would be other than the model's own", path.display())]
    Module {
        path: PathBuf,
        /// The module's type.
        module: String,
    },
    /// The requested maximum length does not fit the model.
    #[error("{asked} tokens at most cannot be: this encoder takes {least} to {most}")]
    MaxTokens {
        asked: usize,
        /// The minimum: the special tokens and one more.
        least: usize,
        /// The maximum: the model's positions.
        most: usize,
    },
    /// The folder has no prompt of this name.
    #[error("there is no prompt \"{asked}\": config_sentence_transformers.json names {}", or_none(known))]
    PromptName {
        /// The requested name.
        asked: String,
        /// The prompts that the folder has.
        known: Vec<String>,
    },
    /// The folder's pooling excludes a prompt's tokens, which is not supported.
    #[error(
        "this encoder leaves the tokens of a prompt out when it pools (include_prompt is false), which cannot be done here: encode \
         without the prompt \"{prompt}\" by an empty one"
    )]
    PromptPooling {
        /// Text of the prompt.
        prompt: String,
    },
    /// The prompt leaves no room for a text.
    #[error(
        "the prompt \"{prompt}\" has {tokens} tokens, which leave no room for a text in the {max_tokens} that are read"
    )]
    PromptLength {
        prompt: String,
        /// Number of its tokens.
        tokens: usize,
        /// The longest input.
        max_tokens: usize,
    },
    /// The device is unknown, not compiled in or not available.
    #[error("device {asked}: {reason}")]
    Device {
        asked: String,
        /// Why it cannot be used, and what to do.
        reason: String,
    },
    /// The precision is unknown, or not available on the device.
    #[error("precision {asked}: {reason}")]
    Precision {
        asked: String,
        /// Why it cannot be used, and what to choose.
        reason: String,
    },
    /// A text could not be tokenized.
    #[error("text {index} cannot be cut into tokens: {reason}")]
    Tokenize {
        /// Its index among the given texts, from 0.
        index: usize,
        /// Why.
        reason: String,
    },
    /// The tokenizer produces no tokens for a text, so there is nothing to pool.
    #[error(
        "text {index} has no tokens: this encoder's tokenizer adds no special tokens, so an empty text has no embedding"
    )]
    NoTokens {
        /// Its index among the given texts, from 0.
        index: usize,
    },
    /// The computed embedding is not finite.
    #[error(
        "the embedding of text {index} is not finite: the weights are extreme, this encoder cannot be used for it"
    )]
    EmbeddingNotFinite {
        /// Its index among the given texts, from 0.
        index: usize,
    },
    /// Not a valid name of a repository on the model hub.
    #[error(
        "\"{0}\" is not the name of a repository on the model hub: write owner/name, or owner/name@revision"
    )]
    HubName(String),
    /// A name that is not a local folder, and that cannot be fetched from the model hub either.
    #[error("there is no folder {name} here, and as a repository on the model hub: {problem}")]
    NeitherFolderNorHub {
        /// The requested name.
        name: String,
        /// Why it could not be fetched.
        problem: Box<EncoderError>,
    },
    /// The hub is unreachable, and no complete snapshot is cached.
    #[error(
        "{repository} cannot be downloaded: {endpoint} is not reachable ({reason}). Check the connection and try again, or choose a \
         folder that holds an encoder; once an encoder is on this machine, no connection is needed"
    )]
    HubOffline {
        /// The repository, with its revision where one was given.
        repository: String,
        /// The hub's address.
        endpoint: String,
        /// Why it is unreachable.
        reason: String,
    },
    /// The hub's address is not allowed.
    #[error("HF_ENDPOINT is \"{endpoint}\", which cannot be used as a model hub: {reason}")]
    HubEndpoint {
        endpoint: String,
        /// Why it is not allowed, and what to do.
        reason: &'static str,
    },
    /// The hub has no such repository or revision.
    #[error(
        "the model hub has no {repository}: look for a slip in the name (owner/name, or owner/name@revision)"
    )]
    HubNotFound {
        /// The repository, with its revision where one was given.
        repository: String,
    },
    /// The hub denies access to the repository.
    #[error(
        "the model hub does not open {repository} (HTTP status {status}): there is none of this name, or it is private, or its \
         terms must be accepted on its page first; {advice}"
    )]
    HubClosed {
        /// The repository, with its revision where one was given.
        repository: String,
        /// 401 or 403.
        status: u16,
        /// What to do about the token.
        advice: &'static str,
    },
    /// The only weights of a repository are a Python pickle.
    #[error(
        "{repository} has its weights only as {found}, which can run code when it is opened and is never fetched: convert it in \
         Python, `from transformers import AutoModel, AutoTokenizer; [c.from_pretrained(\"{repository}\").save_pretrained(\"converted\") \
         for c in (AutoModel, AutoTokenizer)]`, and name the folder `converted`"
    )]
    HubPickleOnly {
        /// `owner/name`.
        repository: String,
        /// The file found in place of model.safetensors.
        found: String,
    },
    /// A repository lacks files that an encoder needs.
    #[error(
        "{repository} on the model hub lacks {}: an encoder needs config.json, tokenizer.json and model.safetensors. Where it is a \
         transformer at all, Python makes them: `from transformers import AutoModel, AutoTokenizer; \
         [c.from_pretrained(\"{repository}\").save_pretrained(\"converted\") for c in (AutoModel, AutoTokenizer)]`", files.join(", ")
    )]
    HubFilesMissing {
        /// `owner/name`.
        repository: String,
        /// The missing files.
        files: Vec<String>,
    },
    /// A file was not received completely.
    #[error("fetching {file} broke off ({reason}): try again, what has come is kept")]
    HubBroken {
        /// The file's name in the repository.
        file: String,
        /// Why.
        reason: String,
    },
    /// The hub provides no checksum of a file, so that it could not be verified.
    #[error(
        "{endpoint} gives no checksum of {file}, so that nothing could tell whether the right bytes arrive: set HF_ENDPOINT to another \
         model hub, or download the encoder's folder from a place that you trust and name that"
    )]
    HubUnverified {
        file: String,
        /// The hub's address.
        endpoint: String,
    },
    /// An unexpected answer of the hub.
    #[error(
        "the model hub answers {what} when asked for {repository}: is HF_ENDPOINT the address of a model hub?"
    )]
    HubAnswer {
        /// The repository, with its revision where one was given.
        repository: String,
        /// The answer.
        what: String,
    },
    /// The model has no pooler of its own.
    #[error("{} has no pooler of its own: choose one of mean, cls, last, max, mean2, max2", .0.display())]
    NoPooler(PathBuf),
    /// A freeze policy that this encoder does not support.
    #[error("what learns cannot be \"{asked}\": {reason}")]
    Policy {
        /// The requested policy.
        asked: String,
        /// Why it is not supported, and what to choose.
        reason: String,
    },
    /// A loss is not finite.
    #[error(
        "the loss is {loss}: nothing was learned from this batch. Try a smaller learning rate, or look at its texts and labels"
    )]
    LossNotFinite {
        /// NaN or infinite.
        loss: f64,
    },
    /// A gradient is not finite.
    #[error(
        "the gradient of {name} is not a number: nothing was learned from this batch. Look at the loss for a root or a logarithm at 0"
    )]
    GradientNotFinite {
        /// Name of the parameter.
        name: String,
    },
    /// Token ids that the model cannot process.
    #[error("text {index} of the batch: {reason}")]
    BadIds {
        /// Index of the text in the batch, from 0.
        index: usize,
        reason: String,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Cancelled by the user.
    #[error("fetching was stopped; what has come is kept")]
    Cancelled,
    /// The catalogue cannot be read.
    #[error("the catalogue of encoders cannot be read: {0}")]
    Catalogue(String),
    /// Worker threads could not be started.
    #[error("cannot start {threads} encoding threads: {reason}")]
    Threads {
        threads: usize,
        /// Why.
        reason: String,
    },
    /// The tensor library failed, for example because the device is out of memory.
    #[error("computing on {device} failed: {source}")]
    Compute {
        /// cpu, cuda or metal.
        device: &'static str,
        /// The underlying error of the tensor library.
        source: candle_core::Error,
    },
}

impl EncoderError {
    /// A short stable name of the error, for scripts and the window.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "encoder-missing",
            Self::NoFolder(_) | Self::NotAFolder(_) => "encoder-no-folder",
            Self::MissingFiles { .. } => "encoder-files-missing",
            Self::PickleOnly { .. } => "encoder-pickle",
            Self::ShardMissing { .. } | Self::ShardLacks { .. } => "encoder-shards",
            Self::Read { .. } => "encoder-unreadable",
            Self::BadJson { .. } | Self::BadConfig { .. } => "encoder-config",
            Self::Family { .. } => "encoder-family",
            Self::DamagedWeights { .. } => "encoder-damaged",
            Self::MissingTensor { .. } | Self::TensorShape { .. } | Self::TensorType { .. } => {
                "encoder-tensor"
            }
            Self::Gguf { .. } => "encoder-gguf",
            Self::SeveralGguf { .. } => "encoder-several-gguf",
            Self::NotFinite { .. } => "encoder-not-finite",
            Self::BadTokenizer { .. } | Self::Vocabulary { .. } => "encoder-tokenizer",
            Self::Checksum { .. } => "encoder-checksum",
            Self::Pooling { .. } | Self::NoPooler(_) => "encoder-pooling",
            Self::Policy { .. } => "encoder-policy",
            Self::LossNotFinite { .. } | Self::GradientNotFinite { .. } => "encoder-loss",
            Self::BadIds { .. } => "encoder-text",
            Self::Module { .. } => "encoder-module",
            Self::MaxTokens { .. } => "encoder-max-tokens",
            Self::PromptName { .. } | Self::PromptPooling { .. } | Self::PromptLength { .. } => {
                "encoder-prompt"
            }
            Self::Device { .. } => "encoder-device",
            Self::Precision { .. } => "encoder-precision",
            Self::Tokenize { .. } | Self::NoTokens { .. } | Self::EmbeddingNotFinite { .. } => "encoder-text",
            Self::HubName(_) => "encoder-hub-name",
            Self::NeitherFolderNorHub { problem, .. } => problem.code(),
            Self::HubOffline { .. } => "encoder-hub-offline",
            Self::HubEndpoint { .. } => "encoder-hub-endpoint",
            Self::HubNotFound { .. } => "encoder-hub-not-found",
            Self::HubClosed { .. } => "encoder-hub-closed",
            Self::HubPickleOnly { .. } => "encoder-pickle",
            Self::HubFilesMissing { .. } => "encoder-files-missing",
            Self::HubBroken { .. } => "encoder-hub-broken",
            Self::HubUnverified { .. } => "encoder-hub-unverified",
            Self::HubAnswer { .. } => "encoder-hub-answer",
            Self::Write { .. } => "encoder-unwritable",
            Self::Cancelled => "cancelled",
            Self::Catalogue(_) => "encoder-catalogue",
            Self::Threads { .. } => "encoder-threads",
            Self::Compute { .. } => "encoder-compute",
        }
    }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn names(files: &[PathBuf]) -> String {
    files
        .iter()
        .filter_map(|file| file.file_name())
        .map(|name| name.to_string_lossy())
        .collect::<Vec<_>>()
        .join(", ")
}

fn places(searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return "no place".to_owned();
    }
    searched.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}

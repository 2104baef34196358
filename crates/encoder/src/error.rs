//! Errors of encoders, their folders and the texts given to them.

use std::path::PathBuf;

dissensus_domain::errors! {
    /// An error, with its location and how to fix it.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum EncoderError {
        Missing { name: String, searched: Vec<PathBuf>, advice: String } => "encoder-missing",
            "the encoder \"{name}\" is not on this machine (looked in {}): {advice}" (places(searched));
        NoFolder(PathBuf) => "encoder-no-folder",
            "there is no folder {0}: name an encoder folder with config.json, tokenizer.json and model.safetensors, or a repository on the model hub as owner/name@main";
        NotAFolder(PathBuf) => "encoder-no-folder",
            "{0} is a file: name the folder that holds config.json, tokenizer.json and model.safetensors, or a .gguf file";
        MissingFiles { dir: PathBuf, files: Vec<String> } => "encoder-files-missing",
            "{dir} lacks {}: an encoder folder needs config.json, tokenizer.json and model.safetensors" (files.join(", "));
        PickleOnly { dir: PathBuf, found: String } => "encoder-pickle",
            "{dir} has its weights only as {found}, which can run code when it is opened and is never read: convert it in Python, `from transformers import AutoModel; AutoModel.from_pretrained(\"{dir}\").save_pretrained(\"{dir}\", safe_serialization=True)`";
        ShardMissing { index: PathBuf, shard: PathBuf } => "encoder-shards",
            "{index} names {shard}, which is not there: fetch or copy the missing file, all of them belong together";
        ShardLacks { index: PathBuf, tensor: String, shard: String } => "encoder-shards",
            "{index} places the tensor \"{tensor}\" in {shard}, which does not hold it: fetch or copy these files again, they do not belong together";
        Read { path: PathBuf, source: std::io::Error } => "encoder-unreadable", "cannot read {path}: {source}";
        BadJson { path: PathBuf, reason: String } => "encoder-config",
            "{path} is not a configuration that can be read: {reason}";
        Family { dir: PathBuf, family: String, known: String } => "encoder-family",
            "{dir} is of the family \"{family}\", which is not supported yet: the supported families are {known}";
        BadConfig { path: PathBuf, field: String, found: String, expected: String } => "encoder-config",
            "{path}: {field} is {found}, which cannot be used: {expected}";
        DamagedWeights { path: PathBuf, reason: String } => "encoder-damaged",
            "{path} is damaged or was cut off ({reason}): fetch or copy it again";
        Gguf { path: PathBuf, reason: String } => "encoder-gguf", "{path} cannot be read as GGUF weights: {reason}";
        SeveralGguf { dir: PathBuf, files: Vec<PathBuf> } => "encoder-several-gguf",
            "{dir} holds {} GGUF files ({}): name the one that is meant" (files.len(), names(files));
        MissingTensor { path: PathBuf, name: String, expected: Vec<usize> } => "encoder-tensor",
            "{path} has no tensor \"{name}\" (expected with shape {expected:?}): do config.json and the weights belong together?";
        TensorShape { path: PathBuf, name: String, expected: Vec<usize>, found: Vec<usize> } => "encoder-tensor",
            "{path}: the tensor \"{name}\" has the shape {found:?}, and config.json asks for {expected:?}";
        TensorType { path: PathBuf, name: String, found: String } => "encoder-tensor",
            "{path}: the tensor \"{name}\" is stored as {found}: save the weights as F32, F16 or BF16";
        NotFinite { path: PathBuf, name: String, found: f32, position: usize } => "encoder-not-finite",
            "{path}: the tensor \"{name}\" holds {found} at position {position}: the training that made it went wrong, or the file is damaged";
        BadTokenizer { path: PathBuf, reason: String } => "encoder-tokenizer",
            "{path} is not a tokenizer that can be read: {reason}";
        Vocabulary { dir: PathBuf, highest: u32, embeddings: usize } => "encoder-tokenizer",
            "{dir}: the tokenizer has token ids up to {highest}, and the model has embeddings for {embeddings} tokens: tokenizer.json and model.safetensors do not belong together";
        Checksum { name: String, path: PathBuf, expected: String, found: String } => "encoder-checksum",
            "{path} is not the file of {name} that the catalogue lists (sha256 {found}, expected {expected}): the download is damaged or the file was changed. Remove the folder and download it again, or give a folder of your own another name";
        Pooling { where_: String, found: String } => "encoder-pooling",
            "{where_}: pooling \"{found}\" is not known: choose one of mean, cls, last, max, mean2, max2, pooler";
        Module { path: PathBuf, module: String } => "encoder-module",
            "{path} asks for the module \"{module}\", which is not supported: without it the embeddings would differ from the model's own";
        MaxTokens { asked: usize, least: usize, most: usize } => "encoder-max-tokens",
            "a limit of {asked} tokens is impossible: this encoder takes {least} to {most}";
        PromptName { asked: String, known: Vec<String> } => "encoder-prompt",
            "there is no prompt \"{asked}\": config_sentence_transformers.json names {}" (or_none(known));
        PromptPooling { prompt: String } => "encoder-prompt",
            "this encoder leaves the tokens of a prompt out when it pools (include_prompt is false), which cannot be done here: encode without the prompt \"{prompt}\" by an empty one";
        PromptLength { prompt: String, tokens: usize, max_tokens: usize } => "encoder-prompt",
            "the prompt \"{prompt}\" has {tokens} tokens, which leave no room for a text in the {max_tokens} that are read";
        Device { asked: String, reason: String } => "encoder-device", "device {asked}: {reason}";
        Precision { asked: String, reason: String } => "encoder-precision", "precision {asked}: {reason}";
        Tokenize { index: usize, reason: String } => "encoder-text",
            "text {index} cannot be tokenized: {reason}";
        NoTokens { index: usize } => "encoder-text",
            "text {index} has no tokens: this encoder's tokenizer adds no special tokens, so an empty text has no embedding";
        EmbeddingNotFinite { index: usize } => "encoder-text",
            "the embedding of text {index} is not finite: the weights are extreme, this encoder cannot be used for it";
        HubName(String) => "encoder-hub-name",
            "\"{0}\" is not the name of a repository on the model hub: write owner/name, or owner/name@revision";
        NeitherFolderNorHub { name: String, problem: Box<EncoderError> } => [problem],
            "there is no folder {name} here, and as a repository on the model hub: {problem}";
        HubOffline { repository: String, endpoint: String, reason: String } => "encoder-hub-offline",
            "{repository} cannot be downloaded: {endpoint} is not reachable ({reason}). Check the connection and try again, or choose a folder that holds an encoder; once an encoder is on this machine, no connection is needed";
        HubEndpoint { endpoint: String, reason: &'static str } => "encoder-hub-endpoint",
            "HF_ENDPOINT is \"{endpoint}\", which cannot be used as a model hub: {reason}";
        HubNotFound { repository: String } => "encoder-hub-not-found",
            "the model hub has no {repository}: look for a slip in the name (owner/name, or owner/name@revision)";
        HubClosed { repository: String, status: u16, advice: &'static str } => "encoder-hub-closed",
            "the model hub denies access to {repository} (HTTP status {status}): there is none of this name, or it is private, or its terms must be accepted on its page first; {advice}";
        HubPickleOnly { repository: String, found: String } => "encoder-pickle",
            "{repository} has its weights only as {found}, which can run code when it is opened and is never fetched: convert it in Python, `from transformers import AutoModel, AutoTokenizer; [c.from_pretrained(\"{repository}\").save_pretrained(\"converted\") for c in (AutoModel, AutoTokenizer)]`, and name the folder `converted`";
        HubFilesMissing { repository: String, files: Vec<String> } => "encoder-files-missing",
            "{repository} on the model hub lacks {}: an encoder needs config.json, tokenizer.json and model.safetensors. Where it is a transformer at all, Python makes them: `from transformers import AutoModel, AutoTokenizer; [c.from_pretrained(\"{repository}\").save_pretrained(\"converted\") for c in (AutoModel, AutoTokenizer)]`" (files.join(", "));
        HubBroken { file: String, reason: String } => "encoder-hub-broken",
            "the download of {file} was interrupted ({reason}): try again; what has arrived is stored";
        HubUnverified { file: String, endpoint: String } => "encoder-hub-unverified",
            "{endpoint} gives no checksum of {file}, so that the download could not be verified: set HF_ENDPOINT to another model hub, or download the encoder's folder from a place that you trust and name that";
        HubAnswer { repository: String, what: String } => "encoder-hub-answer",
            "the model hub answers {what} when asked for {repository}: is HF_ENDPOINT the address of a model hub?";
        NoPooler(PathBuf) => "encoder-pooling",
            "{0} has no pooler of its own: choose one of mean, cls, last, max, mean2, max2";
        Policy { asked: String, reason: String } => "encoder-policy", "the trained part cannot be \"{asked}\": {reason}";
        LossNotFinite { loss: f64 } => "encoder-loss",
            "the loss is {loss}: nothing was learned from this batch. Try a smaller learning rate, or look at its texts and labels";
        GradientNotFinite { name: String } => "encoder-loss",
            "the gradient of {name} is not a number: nothing was learned from this batch. Look at the loss for a root or a logarithm at 0";
        BadIds { index: usize, reason: String } => "encoder-text", "text {index} of the batch: {reason}";
        Write { path: PathBuf, source: std::io::Error } => "encoder-unwritable", "cannot write {path}: {source}";
        Cancelled => "cancelled", "the download was stopped; what has arrived is stored";
        Catalogue(String) => "encoder-catalogue", "the catalogue of encoders cannot be read: {0}";
        Threads { threads: usize, reason: String } => "encoder-threads",
            "cannot start {threads} encoding threads: {reason}";
        Compute { device: &'static str, source: candle_core::Error } => "encoder-compute",
            "computing on {device} failed: {source}";
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

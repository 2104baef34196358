//! Checks the parts of an Arrow file before a library reads them into memory: the lengths that they declare,
//! compressed and unpacked, may be arbitrary.

use super::limited::too_much;
use arrow_ipc::{MessageHeader, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Schema};
use std::io::{Read, Seek, SeekFrom};

/// The first and last bytes of a file with a list of its parts.
pub(super) const MAGIC: [u8; 6] = *b"ARROW1";
/// The bytes before the length of a part's description.
const CONTINUES: [u8; 4] = [0xFF; 4];
/// The length of a buffer that is not compressed among compressed ones.
const NOT_PACKED: i64 = -1;

/// A part: its position, and the lengths of its description and of its body.
struct Part {
    at: u64,
    description: u64,
    body: u64,
}

/// Refuses a file with a list of its parts if one reaches beyond the file, or all unpack to more than `limit`
/// bytes or values.
pub(super) fn check_file(file: &mut (impl Read + Seek), limit: u64) -> Result<(), ArrowError> {
    let end = file.seek(SeekFrom::End(0))?;
    let mut trailer = [0; 10];
    file.seek(SeekFrom::Start(end.saturating_sub(10)))?;
    file.read_exact(&mut trailer)?;
    let [a, b, c, d, ..] = trailer;
    let length = u64::try_from(i32::from_le_bytes([a, b, c, d])).map_err(|_| beyond_the_end())?;
    let at = end.checked_sub(length + 10).ok_or_else(beyond_the_end)?;
    let footer = bytes_at(file, at, length)?;
    let footer = root_as_footer(&footer).map_err(|e| ArrowError::IpcError(e.to_string()))?;
    let mut left = limit;
    let blocks =
        footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    for block in blocks {
        let number = |n: i64| u64::try_from(n).map_err(|_| beyond_the_end());
        let part = Part {
            at: number(block.offset())?,
            description: number(block.metaDataLength().into())?,
            body: number(block.bodyLength())?,
        };
        check_part(file, &part, end, &mut left, limit)?;
    }
    Ok(())
}

/// Refuses a stream of parts under the same conditions as [`check_file`].
pub(super) fn check_stream(file: &mut (impl Read + Seek), limit: u64) -> Result<(), ArrowError> {
    let end = file.seek(SeekFrom::End(0))?;
    let (mut at, mut left) = (0, limit);
    while at + 8 <= end {
        let beginning = bytes_at(file, at, 8)?;
        let [a, b, c, d, e, f, g, h] = beginning[..] else { return Err(beyond_the_end()) };
        let (before, length) = match [a, b, c, d] == CONTINUES {
            true => (8, i32::from_le_bytes([e, f, g, h])),
            false => (4, i32::from_le_bytes([a, b, c, d])), // as versions before 0.15 wrote it
        };
        let length = u64::try_from(length).map_err(|_| beyond_the_end())?;
        if length == 0 {
            break;
        }
        let description = bytes_at(file, at, before + length)?;
        let message = root_as_message(&description[before as usize..])
            .map_err(|e| ArrowError::IpcError(e.to_string()))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| beyond_the_end())?;
        let part = Part { at, description: before + length, body };
        check_part(file, &part, end, &mut left, limit)?;
        at += part.description + part.body;
    }
    Ok(())
}

/// Subtracts the unpacked size of a part from what is `left` of the limit.
fn check_part(
    file: &mut (impl Read + Seek),
    part: &Part,
    end: u64,
    left: &mut u64,
    limit: u64,
) -> Result<(), ArrowError> {
    let length = part.description.checked_add(part.body).ok_or_else(beyond_the_end)?;
    if part.at.checked_add(length).is_none_or(|to| to > end) {
        return Err(beyond_the_end());
    }
    let description = bytes_at(file, part.at, part.description)?;
    let before = if description.starts_with(&CONTINUES) { 8 } else { 4 };
    let message = root_as_message(description.get(before..).ok_or_else(beyond_the_end)?)
        .map_err(|e| ArrowError::IpcError(e.to_string()))?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(batch) = batch else { return Ok(()) };
    let mut take = |bytes: i64| -> Result<(), ArrowError> {
        let bytes = u64::try_from(bytes).map_err(|_| beyond_the_end())?;
        *left = left.checked_sub(bytes).ok_or_else(|| ArrowError::from(too_much(limit)))?;
        Ok(())
    };
    take(batch.length())?;
    for node in batch.nodes().into_iter().flatten() {
        take(node.length())?;
    }
    for bytes in unpacked_lengths(file, part, &batch)? {
        take(bytes)?;
    }
    Ok(())
}

/// Returns the unpacked lengths that the compressed buffers of a batch declare.
fn unpacked_lengths(
    file: &mut (impl Read + Seek),
    part: &Part,
    batch: &RecordBatch<'_>,
) -> Result<Vec<i64>, ArrowError> {
    let mut lengths = Vec::new();
    if batch.compression().is_none() {
        return Ok(lengths);
    }
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8) {
        let from = u64::try_from(buffer.offset()).map_err(|_| beyond_the_end())?;
        if from.checked_add(8).is_none_or(|to| to > part.body) {
            return Err(beyond_the_end());
        }
        let bytes = bytes_at(file, part.at + part.description + from, 8)?;
        let length = i64::from_le_bytes(bytes.try_into().map_err(|_| beyond_the_end())?);
        if length != NOT_PACKED {
            lengths.push(length);
        }
    }
    Ok(lengths)
}

/// Refuses columns whose nested values may share each other repeatedly, so that one row may be larger than
/// all memory.
pub(super) fn check_types(schema: &Schema) -> Result<(), ArrowError> {
    fn check(kind: &DataType) -> Result<(), ArrowError> {
        let shares = match kind {
            DataType::ListView(_) | DataType::LargeListView(_) => true,
            DataType::Dictionary(_, values) => values.is_nested(),
            DataType::RunEndEncoded(_, values) => values.data_type().is_nested(),
            _ => false,
        };
        if shares {
            return Err(ArrowError::NotYetImplemented(format!("columns of type {kind}")));
        }
        match kind {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _) => check(field.data_type()),
            DataType::Struct(fields) => fields.iter().try_for_each(|field| check(field.data_type())),
            DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| check(field.data_type())),
            _ => Ok(()),
        }
    }
    schema.fields().iter().try_for_each(|field| check(field.data_type()))
}

fn bytes_at(file: &mut (impl Read + Seek), at: u64, length: u64) -> Result<Vec<u8>, ArrowError> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(beyond_the_end()),
    }
}

fn beyond_the_end() -> ArrowError {
    ArrowError::IpcError("a part of it reaches beyond its end".to_owned())
}

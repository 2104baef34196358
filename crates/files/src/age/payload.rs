//! The content, in pieces that are encrypted one by one (STREAM of Hoang, Reyhanitabar, Rogaway and Vizár,
//! 2015): a piece cannot be left out, moved or repeated, and the last one is marked.

use super::keys::Key;
use super::{AgeError, GoOn, damaged_or_unreadable};
use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use std::io::{self, Read, Write};

/// Bytes of a piece, without its tag.
const PIECE: usize = 1 << 16;
const TAG: usize = 16;

/// The pieces of a source, each with its number and whether it is the last one.
struct Pieces<'a, R> {
    source: &'a mut R,
    length: usize,
    next: Vec<u8>,
    number: u64,
    ended: bool,
}

impl<'a, R: Read> Pieces<'a, R> {
    fn new(source: &'a mut R, length: usize) -> io::Result<Self> {
        let next = read_piece(source, length)?;
        Ok(Self { source, length, next, number: 0, ended: false })
    }

    fn piece(&mut self) -> io::Result<Option<(Vec<u8>, Nonce)>> {
        if self.ended {
            return Ok(None);
        }
        // Whether it is the last one shows only in what follows.
        let after = match self.next.len() == self.length {
            true => read_piece(self.source, self.length)?,
            false => Vec::new(),
        };
        self.ended = after.is_empty();
        let piece = std::mem::replace(&mut self.next, after);
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&self.number.to_be_bytes());
        nonce[11] = u8::from(self.ended);
        self.number += 1;
        Ok(Some((piece, nonce.into())))
    }
}

fn read_piece(source: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(length);
    source.take(length as u64).read_to_end(&mut piece)?;
    Ok(piece)
}

pub(super) fn encrypt(
    source: &mut impl Read,
    target: &mut impl Write,
    key: &Key,
    go_on: GoOn<'_>,
) -> Result<(), AgeError> {
    let cipher = ChaCha20Poly1305::new(&(*key).into());
    let mut pieces = Pieces::new(source, PIECE).map_err(AgeError::Read)?;
    let mut done = 0;
    while let Some((piece, nonce)) = pieces.piece().map_err(AgeError::Read)? {
        done += piece.len() as u64;
        let sealed = cipher.encrypt(&nonce, piece.as_slice()).map_err(|_| AgeError::Damaged)?;
        target.write_all(&sealed).map_err(AgeError::Write)?;
        if !go_on(done) {
            return Err(AgeError::Stopped);
        }
    }
    Ok(())
}

pub(super) fn decrypt(
    source: &mut impl Read,
    target: &mut impl Write,
    key: &Key,
    go_on: GoOn<'_>,
) -> Result<(), AgeError> {
    let cipher = ChaCha20Poly1305::new(&(*key).into());
    let mut pieces = Pieces::new(source, PIECE + TAG).map_err(damaged_or_unreadable)?;
    let mut done = 0;
    while let Some((piece, nonce)) = pieces.piece().map_err(damaged_or_unreadable)? {
        let opened = cipher.decrypt(&nonce, piece.as_slice()).map_err(|_| AgeError::Damaged)?;
        // Only an empty file has an empty piece.
        if opened.is_empty() && done > 0 {
            return Err(AgeError::Damaged);
        }
        done += piece.len() as u64;
        target.write_all(&opened).map_err(AgeError::Write)?;
        if !go_on(done) {
            return Err(AgeError::Stopped);
        }
    }
    Ok(())
}

//! Pictures of a guideline: small enough to be shown, and of a format that a window shows without running
//! anything.

use crate::guideline::error::GuidelineError;
use dissensus_domain::Picture;
use dissensus_project::error::ProjectError;
use imagesize::ImageType;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Maximum size of a file, in bytes.
const LARGEST: u64 = dissensus_store::LARGEST_PICTURE as u64;

/// Maximum length of a side, in pixels: a window needs four bytes per pixel to show it, regardless of the
/// file's size.
const LONGEST_SIDE: usize = 6_000;

/// Reads a picture; `shown` is its name in the guideline.
pub(super) fn read(path: &Path, shown: &str) -> Result<Picture, ProjectError> {
    let refused = |why: String| GuidelineError::Picture { name: shown.to_owned(), why };
    let about = std::fs::metadata(path).map_err(|e| {
        refused(match e.kind() {
            std::io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
            _ => e.to_string(),
        })
    })?;
    if !about.is_file() {
        return Err(refused(format!("{} is no file", path.display())).into());
    }
    if about.len() > LARGEST {
        let mib = about.len() as f64 / f64::from(1 << 20);
        return Err(refused(format!("it has {mib:.1} MiB; 4 MiB at most: make it smaller")).into());
    }
    let bytes = std::fs::read(path).map_err(|e| refused(e.to_string()))?;
    of_bytes(bytes).map_err(|why| refused(why).into())
}

fn of_bytes(bytes: Vec<u8>) -> Result<Picture, String> {
    let kinds = "PNG, JPEG, GIF and WebP can be taken";
    let media_type = match imagesize::image_type(&bytes) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        _ => return Err(format!("it is of no kind that is shown: {kinds}")),
    };
    let size = imagesize::blob_size(&bytes).map_err(|_| format!("it is damaged: {kinds}"))?;
    if size.width.max(size.height) > LONGEST_SIDE {
        return Err(format!(
            "it has {} x {} pixels; {LONGEST_SIDE} a side at most: make it smaller",
            size.width, size.height
        ));
    }
    let digest = Sha256::digest(&bytes);
    let name = digest[..8].iter().fold(String::new(), |name, byte| format!("{name}{byte:02x}"));
    Ok(Picture { name, media_type: media_type.to_owned(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a PNG of this size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn picture_is_named_by_its_content() {
        let picture = of_bytes(png(20, 10)).unwrap();
        assert_eq!((picture.media_type.as_str(), picture.name.len()), ("image/png", 16));
        assert_eq!(picture.name, of_bytes(png(20, 10)).unwrap().name);
        assert_ne!(picture.name, of_bytes(png(20, 11)).unwrap().name);
    }

    #[test]
    fn unsupported_pictures_are_refused() {
        assert!(of_bytes(png(60_000, 10)).unwrap_err().contains("60000 x 10 pixels"));
        assert!(of_bytes(b"<svg onload='alert(1)'/>".to_vec()).unwrap_err().contains("PNG, JPEG"));
        assert!(of_bytes(png(20, 10)[..20].to_vec()).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let message_of = |path: &Path| read(path, "a.png").unwrap_err().to_string();
        assert!(message_of(&path).contains("there is no file"), "{}", message_of(&path));
        std::fs::write(&path, vec![0; (LARGEST + 1) as usize]).unwrap();
        assert!(message_of(&path).contains("4 MiB at most"));
        assert!(message_of(folder.path()).contains("is no file"));
    }
}

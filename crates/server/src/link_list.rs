//! The personal links as a file: a table, or a page with QR codes to print.

use crate::error::ServerError;
use dissensus_files::replace_private;
use dissensus_project::error::ProjectError;
use dissensus_render::escape::html;
use dissensus_transfer::study::Link;
use qrcode::QrCode;
use qrcode::render::svg;
use std::path::Path;

/// How each kind of file begins: such a file is replaced, any other is not.
const TABLE: &str = "annotator,texts,link\n";
const PAGE: &str = "<!doctype html><!-- links of a study -->";

/// Writes the links as a table (`.csv`), or as a page with a QR code for each (`.html`), readable by its
/// owner only.
/// `address` is that of the server. A list that was written before is replaced.
///
/// # Errors
/// Another ending, another file is in the way, or it cannot be written.
pub fn write_links(links: &[Link], address: &str, file: &Path) -> Result<(), ProjectError> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let (begin, content) = match ending.as_deref() {
        Some("csv") => (TABLE, table(links, address)?),
        Some("html") => (PAGE, page(links, address)?.into_bytes()),
        _ => return Err(ServerError::Ending(file.to_owned()).into()),
    };
    let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing", source };
    match replace_private(file, begin.as_bytes(), &content).map_err(failed)? {
        true => Ok(()),
        false => Err(ServerError::InTheWay(file.to_owned()).into()),
    }
}

fn table(links: &[Link], address: &str) -> Result<Vec<u8>, ProjectError> {
    let mut rows = csv::Writer::from_writer(TABLE.as_bytes().to_vec());
    for link in links {
        let row = [link.annotator.clone(), link.texts.to_string(), link.at(address)];
        rows.write_record(row).map_err(|error| ProjectError::internal(&error))?;
    }
    rows.into_inner().map_err(|error| ProjectError::internal(&error))
}

fn page(links: &[Link], address: &str) -> Result<String, ProjectError> {
    let mut page = format!(
        "{PAGE}<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Links</title><style>\
         body{{font:16px/1.4 system-ui,sans-serif;margin:2rem}}\
         section{{break-inside:avoid;display:flex;gap:1.5rem;align-items:center;margin:0 0 1.5rem}}\
         svg{{width:9rem;height:9rem;flex:none}}h2{{margin:0 0 .3rem;font-size:1.1rem}}\
         p{{margin:0;overflow-wrap:anywhere}}</style></head><body>"
    );
    for link in links {
        let at = link.at(address);
        let code = QrCode::new(&at).map_err(|error| ProjectError::internal(&error))?;
        let code = code.render::<svg::Color<'_>>().build();
        // Without the declaration that only a file of its own has.
        let code = code.split_once("?>").map_or(code.as_str(), |(_, drawing)| drawing);
        page += &format!(
            "<section>{code}<div><h2>{}</h2><p><a href=\"{1}\">{1}</a></p></div></section>",
            html(&link.annotator),
            html(&at)
        );
    }
    Ok(page + "</body></html>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::PacketId;
    use uuid::Uuid;

    fn link(annotator: &str) -> Link {
        let packet = PacketId(Uuid::from_u128(7));
        Link { packet, annotator: annotator.to_owned(), texts: 3, secret: "ab".repeat(16) }
    }

    #[test]
    fn list_replaces_a_list_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.csv");
        let write = |links: &[Link], file: &Path| write_links(links, "https://x.example", file);
        write(&[link("ada")], &file).unwrap();
        write(&[link("ada"), link("b,\"n")], &file).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let secret = "ab".repeat(16);
        assert_eq!(
            written,
            format!(
                "annotator,texts,link\nada,3,https://x.example/p/{secret}\n\"b,\"\"n\",3,https://x.example/p/{secret}\n"
            )
        );
        std::fs::write(&file, "id,text\n").unwrap();
        assert_eq!(write(&[link("ada")], &file).unwrap_err().code(), "links-in-the-way");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "id,text\n");
        assert_eq!(write(&[], &folder.path().join("links.txt")).unwrap_err().code(), "links-ending");
    }

    #[test]
    fn page_has_a_code_for_each_link_and_no_markup_of_names() {
        let written = page(&[link("<b>ada"), link("ben")], "https://x.example").unwrap();
        assert_eq!(written.matches("<svg").count(), 2);
        assert!(written.contains("&lt;b&gt;ada") && !written.contains("<b>ada"));
        // Another reader's result for the same text, as the number of modules of a side: 33 for version 4.
        assert_eq!(QrCode::new(link("ada").at("https://x.example")).unwrap().width(), 33);
    }
}

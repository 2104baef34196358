//! The links of a study as a file: a table, or a page with QR codes to print.

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
/// Where others have their name.
const EVERYBODY: &str = "(everybody)";

/// The links by which people reach a server.
#[derive(Clone, Debug)]
pub struct LinkList<'a> {
    /// The title of the study.
    pub title: &'a str,
    /// The address of the server.
    pub address: &'a str,
    /// The links of people.
    pub links: &'a [Link],
    /// Whether there is a link for everybody, which comes first.
    pub joins: bool,
}

/// A link as it is written.
struct Row {
    name: String,
    texts: Option<u32>,
    link: String,
}

impl LinkList<'_> {
    /// Writes the links as a table (`.csv`), or as a page with a QR code for each (`.html`), readable by its
    /// owner only. A list that was written before is replaced. Returns how many links it has.
    ///
    /// # Errors
    /// Another ending, another file is in the way, or it cannot be written.
    pub fn write(&self, file: &Path) -> Result<usize, ProjectError> {
        let rows: Vec<Row> = self.rows().collect();
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let (begin, content) = match ending.as_deref() {
            Some("csv") => (TABLE, table(&rows)?),
            Some("html") => (PAGE, page(self.title, &rows)?.into_bytes()),
            _ => return Err(ServerError::Ending(file.to_owned()).into()),
        };
        let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing", source };
        match replace_private(file, begin.as_bytes(), &content).map_err(failed)? {
            true => Ok(rows.len()),
            false => Err(ServerError::InTheWay(file.to_owned()).into()),
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        let everybody =
            Row { name: EVERYBODY.to_owned(), texts: None, link: format!("{}/join", self.address) };
        let person = |link: &Link| Row {
            name: link.annotator.clone(),
            texts: Some(link.texts),
            link: link.at(self.address),
        };
        self.joins.then_some(everybody).into_iter().chain(self.links.iter().map(person))
    }
}

fn table(rows: &[Row]) -> Result<Vec<u8>, ProjectError> {
    let mut written = csv::Writer::from_writer(TABLE.as_bytes().to_vec());
    for Row { name, texts, link } in rows {
        let texts = texts.map_or_else(String::new, |texts| texts.to_string());
        written.write_record([name, &texts, link]).map_err(|error| ProjectError::internal(&error))?;
    }
    written.into_inner().map_err(|error| ProjectError::internal(&error))
}

fn page(title: &str, rows: &[Row]) -> Result<String, ProjectError> {
    let mut page = format!(
        "{PAGE}<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>\
         body{{font:16px/1.4 system-ui,sans-serif;margin:2rem}}h1{{font-size:1.5rem}}\
         section{{break-inside:avoid;display:flex;gap:1.5rem;align-items:center;margin:0 0 1.5rem}}\
         svg{{width:9rem;height:9rem;flex:none}}h2{{margin:0 0 .3rem;font-size:1.1rem}}\
         p{{margin:0;overflow-wrap:anywhere}}</style></head><body><main><h1 dir=\"auto\">{0}</h1>",
        html(title)
    );
    for Row { name, link, .. } in rows {
        let code = QrCode::new(link).map_err(|error| ProjectError::internal(&error))?;
        let code = code.render::<svg::Color<'_>>().build();
        // Without the declaration that only a file of its own has.
        let code = code.split_once("?>").map_or(code.as_str(), |(_, drawing)| drawing);
        // The link next to it has the same in words.
        let code = code.replacen("<svg ", "<svg aria-hidden=\"true\" ", 1);
        page += &format!(
            "<section>{code}<div><h2>{}</h2><p><a href=\"{1}\">{1}</a></p></div></section>",
            html(name),
            html(link)
        );
    }
    Ok(page + "</main></body></html>\n")
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

    fn list(links: &[Link], joins: bool) -> LinkList<'_> {
        LinkList { title: "Rude <or> not", address: "https://x.example", links, joins }
    }

    #[test]
    fn list_replaces_a_list_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.csv");
        list(&[link("ada")], false).write(&file).unwrap();
        assert_eq!(list(&[link("ada"), link("b,\"n")], false).write(&file).unwrap(), 2);
        let written = || std::fs::read_to_string(&file).unwrap();
        let secret = "ab".repeat(16);
        let both =
            format!("ada,3,https://x.example/p/{secret}\n\"b,\"\"n\",3,https://x.example/p/{secret}\n");
        assert_eq!(written(), format!("annotator,texts,link\n{both}"));
        assert_eq!(list(&[link("ada"), link("b,\"n")], true).write(&file).unwrap(), 3);
        let everybody = "(everybody),,https://x.example/join\n";
        assert_eq!(written(), format!("annotator,texts,link\n{everybody}{both}"));
        std::fs::write(&file, "id,text\n").unwrap();
        assert_eq!(list(&[link("ada")], false).write(&file).unwrap_err().code(), "links-in-the-way");
        assert_eq!(written(), "id,text\n");
        let wrong = list(&[], false).write(&folder.path().join("links.txt"));
        assert_eq!(wrong.unwrap_err().code(), "links-ending");
    }

    #[test]
    fn page_has_a_code_for_each_link_and_no_markup_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.html");
        let links = [link("<b>ada"), link("ben")];
        let written = |joins| {
            list(&links, joins).write(&file).unwrap();
            std::fs::read_to_string(&file).unwrap()
        };
        let page = written(false);
        assert_eq!((page.matches("<svg").count(), page.contains("/join")), (2, false));
        assert!(page.contains("&lt;b&gt;ada") && !page.contains("<b>ada"));
        assert!(page.contains("<h1 dir=\"auto\">Rude &lt;or&gt; not</h1>") && !page.contains("<or>"));
        let page = written(true);
        assert_eq!(page.matches("<svg").count(), 3);
        assert!(page.contains("<a href=\"https://x.example/join\">https://x.example/join</a>"));
        // Another reader's result for the same text, as the number of modules of a side: 33 for version 4.
        assert_eq!(QrCode::new(link("ada").at("https://x.example")).unwrap().width(), 33);
    }
}

//! A results folder as one HTML file that needs nothing else.
//!
//! Every text that comes from a file goes through `escape`. The page says nothing that is not in the folder: it
//! has no clock, so that the same folder gives the same bytes.

mod advice;
mod chapter;
mod chart;
mod escape;
mod limitations;
mod page;
mod provenance;
mod sha256;
mod system;
mod table;

pub use chapter::{Chapter, Figure, Shown};

/// The page of one or several folders.
pub fn document(chapters: &[Chapter<'_>]) -> String {
    let title = chapters.first().map_or("retrylab", |chapter| chapter.title.as_str());
    let parts: Vec<String> =
        chapters.iter().enumerate().map(|(index, chapter)| chapter.html(index)).collect();
    page::document(title, &parts)
}

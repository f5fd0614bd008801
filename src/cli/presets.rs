//! `retrylab presets`: facts about vendors, with source and date.

use serde_json::json;

use super::Answer;
use crate::error::{Error, Result};
use crate::output::{Style, Table, print};
use crate::presets::{Kind, Preset, find};

/// List the presets; --json has their sources and keys as well.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retrylab presets
  retrylab presets --json")]
pub struct Args {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn main(args: &Args) -> Result<Answer> {
    let all = |kind: Kind| -> Vec<Preset> {
        kind.names().into_iter().filter_map(|name| find(kind, name)).collect()
    };
    let kinds = [
        ("layer", all(Kind::Layer)),
        ("price", all(Kind::Price)),
        ("limits", all(Kind::Limits)),
        ("service", all(Kind::Service)),
    ];
    if args.json {
        let entry = |kind: &str, p: &Preset| json!({ "kind": kind, "name": p.name, "what": p.about.what, "source": p.about.source, "date": p.about.date, "keys": p.keys });
        let presets: Vec<_> =
            kinds.iter().flat_map(|(kind, all)| all.iter().map(|p| entry(kind, p))).collect();
        let document = json!({ "schema": "retrylab.presets/1", "presets": presets });
        print(&serde_json::to_string_pretty(&document).map_err(|e| Error::Bug(e.to_string()))?)?;
        return Ok(Answer::Yes);
    }
    let mut table = Table::new(["preset", "kind", "date", "what"], "l");
    for (kind, presets) in &kinds {
        for preset in presets {
            table.row(vec![
                preset.name.to_owned(),
                (*kind).to_owned(),
                preset.about.date.clone(),
                preset.about.what.clone(),
            ]);
        }
    }
    print(&table.show(Style::Text))?;
    Ok(Answer::Yes)
}

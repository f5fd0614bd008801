//! One font: glyphs, advances and kerning, in the font's own units.
//!
//! The embedded fonts have their kerning in the GPOS table only, which is why a font parser is
//! used here and not a glyph rasteriser: those read the older `kern` table and would set "To" and
//! "AV" too wide.

use ttf_parser::gpos::{PairAdjustment, PositioningSubtable};
use ttf_parser::{Face, GlyphId, Tag};

use super::super::PlotError;

/// A glyph and its extent along the line, in font units.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    pub id: GlyphId,
    pub start: f64,
    pub end: f64,
}

/// A line of text in font units: one glyph for each character.
#[derive(Debug)]
pub struct Line {
    pub glyphs: Vec<Placed>,
    pub advance: f64,
}

/// One font.
#[derive(Debug)]
pub struct Font {
    pub face: Face<'static>,
    pub units_per_em: f64,
    pub cap_height: f64,
    kerning: Vec<PairAdjustment<'static>>,
}

impl Font {
    /// Reads a font file.
    pub fn parse(data: &'static [u8]) -> Result<Font, PlotError> {
        let face = Face::parse(data, 0).map_err(|error| PlotError::Font(error.to_string()))?;
        // The fonts do not state the height of their capitals; an "H" is as high as any.
        let capital = face.glyph_index('H');
        let bounds = capital.and_then(|glyph| face.glyph_bounding_box(glyph));
        let cap_height = bounds.map(|bounds| bounds.y_max);
        let cap_height = cap_height.ok_or_else(|| PlotError::Font("it has no H".to_owned()))?;
        Ok(Font {
            units_per_em: f64::from(face.units_per_em()),
            cap_height: f64::from(cap_height),
            kerning: kerning(&face),
            face,
        })
    }

    /// Sets a text on one line.
    pub fn lay_out(&self, text: &str) -> Line {
        let mut glyphs: Vec<Placed> = Vec::new();
        let mut advance = 0.0;
        for character in text.chars() {
            // Line breaks and tabs have no glyph; the font's own "missing" box stands for other
            // characters that it does not have.
            let shown = if character.is_control() { ' ' } else { character };
            let id = self.face.glyph_index(shown).unwrap_or(GlyphId(0));
            if let Some(before) = glyphs.last() {
                advance += self.kern(before.id, id);
            }
            let start = advance;
            advance += f64::from(self.face.glyph_hor_advance(id).unwrap_or(0));
            glyphs.push(Placed { id, start, end: advance });
        }
        Line { glyphs, advance }
    }

    /// How much closer (negative) or farther the second glyph stands after the first.
    fn kern(&self, first: GlyphId, second: GlyphId) -> f64 {
        let found = self.kerning.iter().find_map(|pairs| pair_adjustment(pairs, first, second));
        f64::from(found.unwrap_or(0))
    }
}

/// The pair tables that the font's kerning feature uses.
fn kerning(face: &Face<'static>) -> Vec<PairAdjustment<'static>> {
    let Some(gpos) = face.tables().gpos else {
        return Vec::new();
    };
    let Some(feature) = gpos.features.find(Tag::from_bytes(b"kern")) else {
        return Vec::new();
    };
    let lookups = feature.lookup_indices.into_iter();
    lookups
        .filter_map(|index| gpos.lookups.get(index))
        .flat_map(|lookup| lookup.subtables.into_iter::<PositioningSubtable>())
        .filter_map(|subtable| match subtable {
            PositioningSubtable::Pair(pairs) => Some(pairs),
            _ => None,
        })
        .collect()
}

/// What one pair table says about two glyphs; `None` if it does not cover them.
fn pair_adjustment(pairs: &PairAdjustment, first: GlyphId, second: GlyphId) -> Option<i16> {
    let index = pairs.coverage().get(first)?;
    let (value, _) = match pairs {
        PairAdjustment::Format1 { sets, .. } => sets.get(index)?.get(second)?,
        PairAdjustment::Format2 { classes, matrix, .. } => {
            matrix.get((classes.0.get(first), classes.1.get(second)))?
        }
    };
    Some(value.x_advance)
}

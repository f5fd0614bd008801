//! Names beside points, where there is room for them.

use super::super::canvas::{Fonts, Weight};
use super::super::header::SMALL_PX;

/// A rectangle in pixels: left, top, right, bottom.
pub type Room = (f64, f64, f64, f64);

/// Places names one after the other, each beside its point, clear of what is there.
#[derive(Debug)]
pub struct Names<'a> {
    fonts: &'a Fonts,
    bounds: Room,
    taken: Vec<Room>,
}

impl Names<'_> {
    /// Names within `bounds`, clear of what is `taken`.
    pub fn within(fonts: &Fonts, bounds: Room, taken: Vec<Room>) -> Names<'_> {
        Names { fonts, bounds, taken }
    }

    /// Where the name of the point at `(x, y)` begins and the middle of its height; None when there is no room, and
    /// the keys have to do.
    pub fn beside(&mut self, name: &str, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let width = self.fonts.width(name, Weight::Regular, SMALL_PX);
        let spots = [11.0, 18.0, 28.0].into_iter().flat_map(|away| {
            [
                (x + away, y),
                (x - away - width, y),
                (x - width / 2.0, y - away - 2.0),
                (x - width / 2.0, y + away + 2.0),
                (x + away * 0.7, y - away),
                (x + away * 0.7, y + away),
                (x - away * 0.7 - width, y - away),
                (x - away * 0.7 - width, y + away),
            ]
        });
        self.first_free(width, spots)
    }

    /// The same above the point.
    pub fn above(&mut self, name: &str, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let width = self.fonts.width(name, Weight::Regular, SMALL_PX);
        let spots = [10.0, 22.0].into_iter().flat_map(|away| {
            [0.5, 0.0, 1.0].map(|part| (x - width * part + 8.0 * (0.5 - part), y - away))
        });
        self.first_free(width, spots)
    }

    fn first_free(
        &mut self,
        width: f64,
        spots: impl IntoIterator<Item = (f64, f64)>,
    ) -> Option<(f64, f64)> {
        let half = self.fonts.cap_height(Weight::Regular, SMALL_PX) / 2.0 + 3.0;
        let room = |(left, middle): (f64, f64)| {
            (left - 2.0, middle - half, left + width + 2.0, middle + half)
        };
        let free = |spot: &(f64, f64)| {
            let (left, top, right, bottom) = room(*spot);
            let inside = left >= self.bounds.0
                && top >= self.bounds.1
                && right <= self.bounds.2
                && bottom <= self.bounds.3;
            inside
                && !self.taken.iter().any(|other| {
                    left < other.2 && other.0 < right && top < other.3 && other.1 < bottom
                })
        };
        let spot = spots.into_iter().find(free)?;
        self.taken.push(room(spot));
        Some(spot)
    }
}

//! Tracks beside each other, where things overlap that do not nest.

/// Which lanes are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes(Vec<bool>);

impl Lanes {
    /// The first lane that is free.
    pub(super) fn take(&mut self) -> usize {
        let free = self.0.iter().position(|taken| !taken);
        let lane = free.unwrap_or_else(|| {
            self.0.push(false);
            self.0.len() - 1
        });
        self.0[lane] = true;
        lane
    }

    pub(super) fn free(&mut self, lane: usize) {
        self.0[lane] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_lane_is_taken() {
        let mut lanes = Lanes::default();
        assert_eq!([lanes.take(), lanes.take(), lanes.take()], [0, 1, 2]);
        lanes.free(1);
        assert_eq!([lanes.take(), lanes.take()], [1, 3]);
    }
}

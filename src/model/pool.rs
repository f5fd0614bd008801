//! Parts that clients share: each client has its own, each group one, or the fleet one.

use crate::client::Scope;

/// All copies of a part, such as the semaphores of all layers of all groups.
pub(super) struct Pool<T> {
    copies: Vec<T>,
    /// Copies that the whole fleet shares, by the name of their layer.
    fleet: Vec<(String, Slot)>,
}

/// Where the copies of one layer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    first: u32,
    per_client: bool,
}

impl Slot {
    /// The index of the copy that holds for `client`.
    #[inline]
    pub(super) fn index(self, client: impl FnOnce() -> u32) -> usize {
        (self.first + if self.per_client { client() } else { 0 }) as usize
    }
}

impl<T: Clone> Pool<T> {
    pub(super) fn new() -> Pool<T> {
        Pool { copies: Vec::new(), fleet: Vec::new() }
    }

    /// Makes the copies for a layer called `name` of a group with so many clients; a layer of the
    /// same name finds the one of the fleet there already.
    pub(super) fn place(&mut self, scope: Scope, name: &str, clients: u32, part: T) -> Slot {
        let shared = self.fleet.iter().find(|(other, _)| scope == Scope::Fleet && other == name);
        if let Some((_, slot)) = shared {
            return *slot;
        }
        let per_client = scope == Scope::Client;
        let slot = Slot { first: self.copies.len() as u32, per_client };
        let count = if per_client { clients as usize } else { 1 };
        self.copies.resize(self.copies.len() + count, part);
        if scope == Scope::Fleet {
            self.fleet.push((name.to_owned(), slot));
        }
        slot
    }

    /// The copy of a layer that holds for `client`.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: Slot, client: impl FnOnce() -> u32) -> &mut T {
        &mut self.copies[slot.index(client)]
    }

    /// The copies of a layer of a group with so many clients.
    pub(super) fn copies(&self, slot: Slot, clients: u32) -> &[T] {
        let first = slot.first as usize;
        &self.copies[first..first + if slot.per_client { clients as usize } else { 1 }]
    }

    /// All copies.
    pub(super) fn all(&self) -> &[T] {
        &self.copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_its_number_of_copies() {
        let mut pool = Pool::new();
        let own = pool.place(Scope::Client, "sdk", 3, 0);
        let group = pool.place(Scope::Group, "sdk", 3, 0);
        let fleet = pool.place(Scope::Fleet, "sdk", 3, 0);
        assert_eq!(pool.all().len(), 5);
        assert_ne!(pool.place(Scope::Group, "sdk", 9, 0), group);
        assert_eq!(pool.place(Scope::Fleet, "sdk", 9, 0), fleet);
        assert_ne!(pool.place(Scope::Fleet, "app", 9, 0), fleet);
        *pool.get_mut(own, || 2) = 7;
        *pool.get_mut(group, || 2) = 8;
        *pool.get_mut(fleet, || 1) = 9;
        assert_eq!(pool.all(), [0, 0, 7, 8, 9, 0, 0]);
        assert_eq!(pool.copies(own, 3), [0, 0, 7]);
        assert_eq!(pool.copies(fleet, 3), [9]);
    }
}

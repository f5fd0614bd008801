//! A list whose first entry is at hand.

use std::iter::{Chain, Once, once};
use std::ops::{Index, IndexMut};
use std::slice;

/// One or more entries. Most runs have one group, one provider and one layer, and ask for it many times per
/// event: the first entry lies where the list is, and where its number is known to be 0 nothing is checked.
#[derive(Debug)]
pub(super) struct Few<T> {
    first: T,
    others: Vec<T>,
}

impl<T> Few<T> {
    /// The entries in their order; None when there is none.
    pub(super) fn of(entries: impl IntoIterator<Item = T>) -> Option<Few<T>> {
        let mut entries = entries.into_iter();
        let first = entries.next()?;
        Some(Few { first, others: entries.collect() })
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// The entries behind number `index`.
    #[inline]
    pub(super) fn after(&self, index: usize) -> &[T] {
        self.others.get(index..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn iter(&self) -> Chain<Once<&T>, slice::Iter<'_, T>> {
        once(&self.first).chain(&self.others)
    }

    #[inline]
    pub(super) fn iter_mut(&mut self) -> Chain<Once<&mut T>, slice::IterMut<'_, T>> {
        once(&mut self.first).chain(&mut self.others)
    }
}

impl<T> Index<usize> for Few<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        match index {
            0 => &self.first,
            _ => &self.others[index - 1],
        }
    }
}

impl<T> IndexMut<usize> for Few<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        match index {
            0 => &mut self.first,
            _ => &mut self.others[index - 1],
        }
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = Chain<Once<&'f T>, slice::Iter<'f, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'f, T> IntoIterator for &'f mut Few<T> {
    type Item = &'f mut T;
    type IntoIter = Chain<Once<&'f mut T>, slice::IterMut<'f, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_order_are_those_of_a_list() {
        assert!(Few::<u8>::of([]).is_none());
        for len in 1..4 {
            let mut few = Few::of(0..len).unwrap();
            few.iter_mut().for_each(|entry| *entry += 10);
            few[len - 1] += 10;
            let mut expected: Vec<usize> = (10..10 + len).collect();
            expected[len - 1] += 10;
            assert_eq!(few.iter().copied().collect::<Vec<_>>(), expected);
            assert_eq!((0..few.len()).map(|i| few[i]).collect::<Vec<_>>(), expected);
            (0..len + 2).for_each(|i| assert_eq!(few.after(i), &expected[len.min(i + 1)..]));
        }
    }
}

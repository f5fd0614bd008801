//! Numbers in, numbers out: summaries, intervals, paired comparisons and quantiles.
//!
//! Values are folded in the order given, so the same rows give the same bits.

mod sum;

pub mod batch;
pub mod binomial;
pub mod paired;
pub mod quantile;
pub mod ratio;
pub mod running;
pub mod student;
pub mod summary;
pub mod warm_up;
pub mod wilson;

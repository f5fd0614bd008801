//! Closed forms with their sources: what a simulation must agree with.
//!
//! Nothing here simulates. Every function is a formula from the literature (or a
//! numerical evaluation with a stated error), so that tests can hold the simulator
//! against it and plots can draw it over measured points.
//!
//! Arguments outside the documented range give `NaN` (or `None` where the result is
//! an option), never a panic.

mod double_double;

pub mod decorrelated;
pub mod herd;
pub mod multinomial_max;
pub mod queue;
pub mod retry;
pub mod retry_load;
pub mod uniform_sum;

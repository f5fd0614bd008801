//! The best settings of a scenario: a race on common random numbers, and a check on fresh ones.
//!
//! ```text
//! settings ─► race: all run, the surely worse ones leave, the others run on ─► front ─► recommendation
//!                                         fresh seeds ─► what it is worth, and what if … ◄─┘
//! ```

mod checked;
mod contest;
mod front;
mod goal;
mod race;
mod what_if;

pub use checked::{Checked, Margin, check, margins};
pub use contest::Contest;
pub use front::{choose, front};
pub use goal::{Constraint, Goal, Objective, Score};
pub use race::{Contender, Out, Race, race};
pub use what_if::WhatIf;

//! The gate and the file tools under attack, as one test binary.

mod child;
mod faults;
mod guard;
mod plan_mode;
mod races;
mod subject;

//! The planner as a pure function: observations built by hand, no server.

mod guards;
mod pending;
mod prunes;
mod verdicts;
mod world;

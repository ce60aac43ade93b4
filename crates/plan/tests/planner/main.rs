//! The planner as a pure function: observations built by hand, no server.

#[cfg(test)]
mod backends;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod forecasts;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod pods;
#[cfg(test)]
mod prunes;
mod restraints;
#[cfg(test)]
mod retained;
#[cfg(test)]
mod verdicts;
#[cfg(test)]
mod world;

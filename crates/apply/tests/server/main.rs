//! Applying and pruning against a real API server.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod apply;
#[cfg(test)]
mod bed;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod kubectl;
#[cfg(test)]
mod late;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod ownership;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod prune;
#[cfg(test)]
mod residents;
#[cfg(test)]
mod retain;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod users;
#[cfg(test)]
mod webhooks;

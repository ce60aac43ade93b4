//! Observing and planning against the real API server of the testbed; `make test` starts it.

#[cfg(test)]
mod adoption;
#[cfg(test)]
mod aliases;
#[cfg(test)]
mod bed;
#[cfg(test)]
mod cascades;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod denials;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod fields;
#[cfg(test)]
mod going;
#[cfg(test)]
mod immutables;
#[cfg(test)]
mod injected;
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod orphans;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod pods;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod previews;
#[cfg(test)]
mod prunes;
#[cfg(test)]
mod publishers;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod recipes;
#[cfg(test)]
mod restarts;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod secrecy;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod stand_in;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod unlisted;
#[cfg(test)]
mod webhooks;

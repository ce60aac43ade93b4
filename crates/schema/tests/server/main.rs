//! The same definitions and objects given to the real API server and to [`windlass_schema`]; `make test` starts it.

// The macro that builds the schemas recurses once a field.
#![recursion_limit = "512"]

#[cfg(test)]
mod bed;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod library;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod structure;
#[cfg(test)]
mod transitions;

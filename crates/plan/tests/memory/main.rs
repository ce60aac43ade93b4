//! Remembered dry-runs against a control plane of their own: nobody else changes its policies meanwhile.
//! `make test` says where the testbed is.

#[cfg(test)]
mod bed;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod reuse;
#[cfg(test)]
mod same;

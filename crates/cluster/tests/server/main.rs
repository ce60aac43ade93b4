//! Requests against the real API server of the testbed; `make test` starts it.

#[cfg(test)]
mod bed;
#[cfg(test)]
mod deadline;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod meanings;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod place;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod webhooks;

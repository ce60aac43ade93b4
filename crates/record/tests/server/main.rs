//! The lock and the records against a real API server.

#[cfg(test)]
mod bed;
#[cfg(test)]
mod line;
#[cfg(test)]
mod lock;
#[cfg(test)]
mod records;

//! Plans as they are read, in every form.

mod browser;
mod forms;
mod samples;
mod schema;
mod untrusted;

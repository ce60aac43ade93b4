//! What is refused, with the exit code and a message that says what to do.

mod approvals;
mod commits;
mod guards;
mod inputs;
mod places;
mod policies;
mod restraints;

use windlass_e2e::World;

/// Asserts that a refused run has left nothing behind.
#[track_caller]
fn assert_untouched(world: &World) {
    let namespace = world.namespace("app");
    assert!(!world.kubectl.exists("namespace", "", &namespace), "the refused run made {namespace}");
}

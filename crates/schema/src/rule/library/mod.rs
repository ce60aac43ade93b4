//! Types and functions that only Kubernetes has (apiserver, `pkg/cel/library`).

#![expect(clippy::unnecessary_wraps, reason = "what a function gives ends it")]

mod address;
mod quantity;
mod range;
mod url;
mod version;

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;

use cel::common::types::{CelBool, CelInt, CelString, Type};
use cel::common::value::{CowVal, StaticVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use address::Address;

/// What a function gives.
type Given<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

/// Adds them to a language.
pub(super) fn add(env: &mut Env) -> Result<(), DeclarationError> {
    quantity::add(env)?;
    address::add(env)?;
    range::add(env)?;
    version::add(env)?;
    url::add(env)
}

/// The name that errors of these functions carry: the server fails as they do.
const OURS: &str = "kubernetes";

/// Returns the words of an error that the server would run into as well.
pub(super) fn failure(error: &ExecutionError) -> Option<&str> {
    match error {
        ExecutionError::FunctionError { function, message } if function == OURS => Some(message),
        _ => None,
    }
}

/// A text that is no such value; the words leave the text out, since errors are shown.
fn not(what: &str) -> ExecutionError {
    ExecutionError::FunctionError { function: OURS.to_owned(), message: format!("a text is not {what}") }
}

/// A value that is right, but not computed here.
fn undecided() -> ExecutionError {
    ExecutionError::InternalError("not computed here".to_owned())
}

/// A type that only Kubernetes has.
trait Known: Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Returns the type, under the name that the server knows it by.
    fn name() -> &'static Type;
}

/// A value of such a type.
#[derive(Debug, Clone)]
struct Typed<T>(T);

impl<T: Known> Val for Typed<T> {
    fn get_type(&self) -> &Type {
        T::name()
    }

    fn cel_type() -> &'static Type {
        T::name()
    }

    fn equals(&self, other: &dyn Val) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl<T: Known> StaticVal for Typed<T> {}

fn argument<'a, 'b, 'v>(
    arguments: &'a [CowVal<'b, 'v>],
    position: usize,
) -> Result<&'a CowVal<'b, 'v>, ExecutionError> {
    arguments.get(position).ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// Returns an argument that is a text.
fn text(arguments: &[CowVal<'_, '_>], position: usize) -> Result<String, ExecutionError> {
    let text = argument(arguments, position)?.downcast_ref::<CelString<'_>>();
    text.map(|text| text.inner().to_owned()).ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// Returns an argument that is a whole number.
fn number(arguments: &[CowVal<'_, '_>], position: usize) -> Result<i64, ExecutionError> {
    let number = argument(arguments, position)?.downcast_ref::<CelInt>();
    number.map(|number| *number.inner()).ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// Returns an argument that is a yes or no.
fn flag(arguments: &[CowVal<'_, '_>], position: usize) -> Result<bool, ExecutionError> {
    let flag = argument(arguments, position)?.downcast_ref::<CelBool>();
    flag.map(|flag| *flag.inner()).ok_or(ExecutionError::MissingArgumentOrTarget)
}

/// Returns an argument of one of the types of this library.
fn typed<T: Known>(arguments: &[CowVal<'_, '_>], position: usize) -> Result<T, ExecutionError> {
    let value = argument(arguments, position)?.downcast_ref::<Typed<T>>();
    value.map(|value| value.0.clone()).ok_or(ExecutionError::MissingArgumentOrTarget)
}

fn give<'b, 'v, T: Known>(value: T) -> Given<'b, 'v> {
    Ok(CowVal::owned(Typed(value)))
}

fn give_flag<'b, 'v>(flag: bool) -> Given<'b, 'v> {
    Ok(CowVal::owned(CelBool::from(flag)))
}

fn give_number<'b, 'v>(number: i64) -> Given<'b, 'v> {
    Ok(CowVal::owned(CelInt::from(number)))
}

fn give_text<'b, 'v>(text: String) -> Given<'b, 'v> {
    Ok(CowVal::owned(CelString::from(text)))
}

fn give_order<'b, 'v>(order: Ordering) -> Given<'b, 'v> {
    give_number(order as i64)
}

//! `quantity()` (apiserver, `pkg/cel/library/quantity.go`).

use cel::common::types::{CelDouble, INT_TYPE, Kind, STRING_TYPE, Type};
use cel::common::value::CowVal;
use cel::{DeclarationError, Env, ExecutionError};
use windlass_model::{Quantity, Unread};

use super::{Known, give, give_flag, give_number, give_order, not, number, text, typed, undecided};

static QUANTITY: Type = Type::simple_type(Kind::Opaque, "kubernetes.Quantity");

impl Known for Quantity {
    fn name() -> &'static Type {
        &QUANTITY
    }
}

fn read(text: &str) -> Result<Quantity, ExecutionError> {
    Quantity::read(text).map_err(|unread| match unread {
        Unread::Wrong => not("a quantity"),
        Unread::TooLarge => undecided(),
    })
}

fn computed(result: Option<Quantity>) -> Result<Quantity, ExecutionError> {
    result.ok_or_else(undecided)
}

pub(super) fn add(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload("quantity", "string_to_quantity", vec![STRING_TYPE], |given| {
        give(read(&text(&given, 0)?)?)
    })?;
    env.add_overload("isQuantity", "is_quantity_string", vec![STRING_TYPE], |given| {
        give_flag(!matches!(Quantity::read(&text(&given, 0)?), Err(Unread::Wrong)))
    })?;
    // Its documentation writes it as a member, but it is declared as a function.
    env.add_overload("sign", "quantity_sign", vec![QUANTITY.to_owned()], |given| {
        give_number(typed::<Quantity>(&given, 0)?.sign())
    })?;
    let member = |env: &mut Env, name: &str, id: &str, arguments, function| {
        env.add_member_overload(name, id, QUANTITY.to_owned(), arguments, function)
    };
    let other = || vec![QUANTITY.to_owned()];
    member(env, "isGreaterThan", "quantity_is_greater_than", other(), |given| {
        give_flag(typed::<Quantity>(&given, 0)?.order(typed::<Quantity>(&given, 1)?).is_gt())
    })?;
    member(env, "isLessThan", "quantity_is_less_than", other(), |given| {
        give_flag(typed::<Quantity>(&given, 0)?.order(typed::<Quantity>(&given, 1)?).is_lt())
    })?;
    member(env, "compareTo", "quantity_compare_to", other(), |given| {
        give_order(typed::<Quantity>(&given, 0)?.order(typed::<Quantity>(&given, 1)?))
    })?;
    member(env, "asApproximateFloat", "quantity_get_float", Vec::new(), |given| {
        Ok(CowVal::owned(CelDouble::from(typed::<Quantity>(&given, 0)?.as_float())))
    })?;
    member(env, "asInteger", "quantity_get_int", Vec::new(), |given| {
        give_number(typed::<Quantity>(&given, 0)?.as_whole().ok_or_else(|| not("a whole number"))?)
    })?;
    member(env, "isInteger", "quantity_is_integer", Vec::new(), |given| {
        give_flag(typed::<Quantity>(&given, 0)?.as_whole().is_some())
    })?;
    member(env, "add", "quantity_add", other(), |given| {
        give(computed(typed::<Quantity>(&given, 0)?.plus(typed::<Quantity>(&given, 1)?))?)
    })?;
    member(env, "add", "quantity_add_int", vec![INT_TYPE], |given| {
        give(computed(typed::<Quantity>(&given, 0)?.plus(Quantity::whole(number(&given, 1)?)))?)
    })?;
    member(env, "sub", "quantity_sub", other(), |given| {
        give(computed(typed::<Quantity>(&given, 0)?.minus(typed::<Quantity>(&given, 1)?))?)
    })?;
    member(env, "sub", "quantity_sub_int", vec![INT_TYPE], |given| {
        give(computed(typed::<Quantity>(&given, 0)?.minus(Quantity::whole(number(&given, 1)?)))?)
    })
}

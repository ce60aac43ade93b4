//! Changes of objects, by JSON pointers.

use std::fmt;

use serde_json::{Map, Value};

/// One change of an object: places and what stands there afterwards.
#[derive(Clone)]
pub(crate) struct Edit(Vec<(String, Value)>);

impl Edit {
    /// Reads a list of edits, each `[pointer, value, …]`, all below a place.
    pub(crate) fn read_all(list: &Value, below: &str) -> Vec<Self> {
        let read = |edit: &Value| {
            let pairs = edit.as_array().unwrap().chunks(2);
            Self(
                pairs
                    .map(|pair| (format!("{below}{}", pair[0].as_str().unwrap()), pair[1].clone()))
                    .collect(),
            )
        };
        list.as_array().unwrap().iter().map(read).collect()
    }

    /// Returns the fields of the object's root that the edit is about.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|(pointer, _)| pointer.split('/').nth(1))
    }

    /// Changes an object; places that it lacks are made.
    pub(crate) fn apply(&self, object: &mut Value) {
        for (pointer, value) in &self.0 {
            set(object, pointer, value);
        }
    }

    /// Returns an object that holds only what the edit writes, if that leads through no list and removes nothing.
    pub(crate) fn alone(&self) -> Option<Value> {
        let mut object = Value::Object(Map::new());
        for (pointer, value) in &self.0 {
            let in_list = pointer.split('/').any(|step| step == "-" || step.parse::<usize>().is_ok());
            if in_list || value == "$remove" || value == "$reverse" {
                return None;
            }
            set(&mut object, pointer, value);
        }
        Some(object)
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|(pointer, value)| format!("{pointer} := {value}")).collect();
        f.write_str(&parts.join(" and "))
    }
}

fn set(object: &mut Value, pointer: &str, value: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let mut place = &mut *object;
    for step in parent.split('/').skip(1) {
        let step = unescaped(step);
        place = match place {
            Value::Array(items) => match step.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                Some(item) => item,
                None => return,
            },
            place => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut().unwrap().entry(step).or_insert_with(|| Value::Object(Map::new()))
            }
        };
    }
    let key = unescaped(key);
    match (place, value.as_str()) {
        (Value::Array(items), Some("$remove")) => {
            if let Some(index) = key.parse().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        (Value::Array(items), _) if key == "-" => items.push(value.clone()),
        (Value::Array(items), _) => {
            if let Some(item) = key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *item = value.clone();
            }
        }
        (Value::Object(map), Some("$remove")) => drop(map.remove(&key)),
        (Value::Object(map), Some("$reverse")) => {
            if let Some(Value::Array(items)) = map.get_mut(&key) {
                items.reverse();
            }
        }
        (Value::Object(map), _) => drop(map.insert(key, value.clone())),
        _ => {}
    }
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

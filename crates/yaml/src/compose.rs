//! From a parser's events to a document.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use libyaml_safer::{Encoding, Event, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle};

use crate::document::Document;
use crate::frame::{Content, Frame, Node};
use crate::limits::Budget;
use crate::resolve::{self, Kind, Scalar};
use crate::stream::Chunk;
use crate::{Lint, Position, YamlError, syntax};

/// Reads one piece of a stream; `None` when it holds nothing, or null.
///
/// The parser panics on a tag directly before a comma inside brackets (`[!a,b]`, seen by fuzzing). A panic never
/// leaves this function.
pub(crate) fn document(chunk: &Chunk, budget: &mut Budget) -> Result<Option<Document>, YamlError> {
    syntax::check_characters(chunk)?;
    std::panic::catch_unwind(AssertUnwindSafe(|| compose(chunk, budget))).unwrap_or_else(|_| {
        let message = "the parser cannot read this document";
        Err(YamlError::new(chunk.position(0, 0), message, "look for a tag (`!…`) directly before a comma"))
    })
}

fn compose(chunk: &Chunk, budget: &mut Budget) -> Result<Option<Document>, YamlError> {
    let mut builder =
        Builder { budget, frames: Vec::new(), anchors: HashMap::new(), lints: Vec::new(), root: None };
    let mut parser = Parser::new();
    parser.set_encoding(Encoding::Utf8);
    parser.set_input(chunk.text.as_bytes());
    loop {
        let event = parser.parse().map_err(|error| syntax::error(chunk, &error))?;
        if matches!(event.data, EventData::StreamEnd) {
            break;
        }
        let position = syntax::position(chunk, event.start_mark);
        builder.take(event, position)?;
    }
    let Some(root) = builder.root else { return Ok(None) };
    let lints = builder.lints;
    let line = root.spot.position.line;
    let (value, root) = root.into_value()?;
    Ok(if value.is_null() { None } else { Some(Document { value, line, lints, root }) })
}

struct Builder<'a> {
    budget: &'a mut Budget,
    frames: Vec<Frame>,
    anchors: HashMap<String, Anchored>,
    lints: Vec<Lint>,
    root: Option<Node>,
}

enum Anchored {
    /// A collection that starts here and is not closed yet.
    Open(Position),
    Done(Node),
}

impl Builder<'_> {
    fn take(&mut self, event: Event, position: Position) -> Result<(), YamlError> {
        match event.data {
            EventData::Scalar { anchor, tag, value, plain_implicit, style, .. } => {
                self.budget.node(position)?;
                let kind = Kind::of(tag.as_deref());
                let node = self.scalar(&value, plain_implicit, style, kind, position)?;
                if let Some(anchor) = anchor {
                    self.remember(anchor, &node)?;
                }
                self.place(node)
            }
            EventData::SequenceStart { anchor, style, .. } => {
                self.open(Frame::list(position, anchor, style == SequenceStyle::Flow))
            }
            EventData::MappingStart { anchor, style, .. } => {
                self.open(Frame::map(position, anchor, style == MappingStyle::Flow))
            }
            EventData::SequenceEnd | EventData::MappingEnd => self.close(),
            EventData::Alias { anchor } => self.alias(&anchor, position),
            EventData::DocumentStart { .. } if self.root.is_some() => {
                let message = "text behind the end of the document";
                Err(YamlError::new(
                    position,
                    message,
                    "`kubectl` would ignore what follows `...`: start it with `---`",
                ))
            }
            _ => Ok(()),
        }
    }

    /// `implicit` says that the scalar is plain and has no tag, or only the tag `!`.
    fn scalar(
        &mut self,
        text: &str,
        implicit: bool,
        style: ScalarStyle,
        kind: Kind,
        position: Position,
    ) -> Result<Node, YamlError> {
        let is_key = self.frames.last().is_some_and(Frame::awaits_key);
        if is_key && text == "<<" && (kind == Kind::Merge || implicit) {
            return Ok(Node::scalar(Content::Merge, position));
        }
        let plain = style == ScalarStyle::Plain;
        if plain && text.contains('?') && self.frames.last().is_some_and(|frame| frame.flow) {
            let message = "an unquoted `?` inside brackets";
            return Err(YamlError::new(
                position,
                message,
                "put the text in quotes: `kubectl` takes `?` for a key",
            ));
        }
        let scalar = resolve::scalar(text, plain, kind)
            .map_err(|problem| YamlError::new(position, problem, "correct the value or remove the tag"))?;
        if plain && kind == Kind::Untagged && !is_key {
            self.lints.extend(lint(text, &scalar).map(|text| Lint { position, text }));
        }
        Ok(Node::scalar(Content::Scalar(scalar), position))
    }

    fn open(&mut self, frame: Frame) -> Result<(), YamlError> {
        self.budget.node(frame.position)?;
        self.budget.depth(self.frames.len() + 1, frame.position)?;
        if let Some(anchor) = &frame.anchor {
            self.anchors.insert(anchor.clone(), Anchored::Open(frame.position));
        }
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self) -> Result<(), YamlError> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        let (anchor, start) = (frame.anchor.take(), frame.position);
        let node = frame.close();
        if let Some(anchor) = anchor {
            // A node inside may have taken the name over.
            if matches!(self.anchors.get(&anchor), Some(Anchored::Open(position)) if *position == start) {
                self.remember(anchor, &node)?;
            }
        }
        self.place(node)
    }

    fn remember(&mut self, anchor: String, node: &Node) -> Result<(), YamlError> {
        self.budget.alias(node.size, node.spot.position)?;
        self.anchors.insert(anchor, Anchored::Done(node.clone()));
        Ok(())
    }

    fn alias(&mut self, anchor: &str, position: Position) -> Result<(), YamlError> {
        let node = match self.anchors.get(anchor) {
            Some(Anchored::Done(node)) => node,
            Some(Anchored::Open(_)) => {
                let message = "an alias inside the node that it stands for";
                return Err(YamlError::new(position, message, "write the content out"));
            }
            None => {
                let hint = "define the anchor before its use; anchors do not reach across `---`";
                return Err(YamlError::new(position, "an alias without anchor", hint));
            }
        };
        self.budget.alias(node.size, position)?;
        self.budget.depth(self.frames.len() + node.height, position)?;
        let mut node = node.clone();
        node.spot.position = position;
        node.alias = true;
        if matches!(node.content, Content::Merge) {
            // Only a `<<` that is written in the place of a key merges.
            node.content = Content::Scalar(Scalar::Text("<<".to_owned()));
        }
        self.place(node)
    }

    fn place(&mut self, node: Node) -> Result<(), YamlError> {
        if let Some(frame) = self.frames.last_mut() {
            return frame.push(node, &mut self.lints);
        }
        self.root = Some(node);
        Ok(())
    }
}

/// Says what is legal but dangerous about an unquoted value, without repeating it.
fn lint(text: &str, scalar: &Scalar) -> Option<String> {
    let number = matches!(scalar, Scalar::Int(_) | Scalar::Uint(_) | Scalar::Float(_));
    let digits = text.trim_start_matches(['+', '-']).as_bytes();
    match scalar {
        Scalar::Bool(value) if !matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") => {
            let text = format!(
                "an unquoted yes, no, on, off, y or n is read as the boolean {value}; quote it if it is a text"
            );
            Some(text)
        }
        _ if number && text.contains('_') => {
            Some("`_` inside a number is dropped; quote the value if it is a text".to_owned())
        }
        _ if number && matches!(digits, [b'0', b'0'..=b'9', ..]) => {
            Some("a number with a leading zero is read as octal; quote it if it is a text".to_owned())
        }
        Scalar::Int(value) if value.unsigned_abs() > 1 << 53 => Some(HUGE.to_owned()),
        Scalar::Uint(_) => Some(HUGE.to_owned()),
        _ => None,
    }
}

pub(crate) const HUGE: &str =
    "an integer beyond 2^53 loses digits in many programs; quote it if it is an identifier";

//! Debug metadata: where each instruction comes from.

use super::cursor::{Reader, Result};
use crate::ir::lexer::{Kind, unescaped};
use crate::ir::module::{DebugNode, LocationId};

/// Nodes that are written where they are used get numbers from here; those with numbers of their own are below.
const UNNUMBERED: usize = 1 << 31;

/// The fields of a node that matter.
#[derive(Default)]
struct Fields {
    line: u32,
    column: u32,
    name: String,
    filename: String,
    directory: String,
    scope: Option<usize>,
    file: Option<usize>,
    inlined_at: Option<usize>,
}

/// The value of a field.
enum Field<'a> {
    Number(u32),
    Text(&'a str),
    Node(Option<usize>),
    Else,
}

impl<'a> Reader<'a> {
    /// `!5 = distinct !DISubprogram(..)` and the like, at the beginning of a line.
    pub(super) fn metadata(&mut self) -> Result<()> {
        let id = self.node_number();
        self.bump();
        if !self.eat(b'=') {
            return Err(self.wrong("="));
        }
        self.eat_word("distinct");
        if let (Some(id), Kind::Meta) = (id, self.peek().kind) {
            if let Some(node) = self.node()? {
                self.module.debug.insert(id, node);
            }
        }
        self.skip_line()
    }

    /// The number of the node at this token, if it has one.
    fn node_number(&self) -> Option<usize> {
        let digits = self.peek_text().strip_prefix('!')?;
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number| plain && *number < UNNUMBERED)
    }

    /// `!name node`, at the name: if the name is `!dbg`, the node.
    pub(super) fn attachment(&mut self) -> Result<Option<LocationId>> {
        let debug = self.peek_text() == "!dbg";
        self.bump();
        let node = self.node_value()?;
        Ok(node.filter(|_| debug).map(LocationId))
    }

    /// A node as a value: `!5`, `!DILocation(..)`, `!{..}`, `!".."`, `null`.
    fn node_value(&mut self) -> Result<Option<usize>> {
        self.eat_word("distinct");
        match self.peek().kind {
            Kind::Meta => {
                if let Some(number) = self.node_number() {
                    self.bump();
                    return Ok(Some(number));
                }
                self.enter()?;
                let node = self.node()?;
                self.leave();
                Ok(node.map(|node| {
                    let id = UNNUMBERED + self.unnumbered;
                    self.unnumbered += 1;
                    self.module.debug.insert(id, node);
                    id
                }))
            }
            Kind::Mark(b'!') => {
                self.bump();
                match self.peek().kind {
                    Kind::Text => {
                        self.bump();
                        Ok(None)
                    }
                    Kind::Mark(b'{') => self.skip_brackets().map(|()| None),
                    _ => Err(self.wrong("metadata")),
                }
            }
            Kind::Word if self.word() == "null" => {
                self.bump();
                Ok(None)
            }
            _ => Err(self.wrong("metadata")),
        }
    }

    /// `!DIKind(field: value, ..)`; nothing if it is of no use.
    fn node(&mut self) -> Result<Option<DebugNode>> {
        let kind = self.peek_text();
        self.bump();
        if !self.at(b'(') {
            return Ok(None);
        }
        if !matches!(
            kind,
            "!DILocation"
                | "!DISubprogram"
                | "!DILexicalBlock"
                | "!DILexicalBlockFile"
                | "!DIFile"
                | "!DICommonBlock"
                | "!DINamespace"
        ) {
            self.skip_brackets()?;
            return Ok(None);
        }
        let fields = self.node_fields()?;
        Ok(match kind {
            "!DILocation" => fields.scope.map(|scope| DebugNode::Location {
                line: fields.line,
                column: fields.column,
                scope,
                inlined_at: fields.inlined_at,
            }),
            "!DISubprogram" => Some(DebugNode::Subprogram { name: fields.name, file: fields.file, line: fields.line }),
            "!DIFile" => Some(DebugNode::File { name: fields.filename, directory: fields.directory }),
            _ => Some(DebugNode::Scope { scope: fields.scope, file: fields.file }),
        })
    }

    fn node_fields(&mut self) -> Result<Fields> {
        let mut fields = Fields::default();
        self.expect(b'(')?;
        if self.eat(b')') {
            return Ok(fields);
        }
        loop {
            if self.peek().kind != Kind::Label {
                return Err(self.wrong("the name of a field"));
            }
            let key = self.peek_text();
            self.bump();
            match (key, self.field()?) {
                ("line", Field::Number(line)) => fields.line = line,
                ("column", Field::Number(column)) => fields.column = column,
                ("name", Field::Text(name)) => fields.name = unescaped(name).into_owned(),
                ("filename", Field::Text(name)) => fields.filename = unescaped(name).into_owned(),
                ("directory", Field::Text(name)) => fields.directory = unescaped(name).into_owned(),
                ("scope", Field::Node(node)) => fields.scope = node,
                ("file", Field::Node(node)) => fields.file = node,
                ("inlinedAt", Field::Node(node)) => fields.inlined_at = node,
                _ => {}
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(fields)
    }

    fn field(&mut self) -> Result<Field<'a>> {
        let token = self.peek();
        let text = self.peek_text();
        match token.kind {
            Kind::Number => {
                self.bump();
                Ok(text.parse().map_or(Field::Else, Field::Number))
            }
            Kind::Text => {
                self.bump();
                Ok(Field::Text(text.trim_matches('"')))
            }
            Kind::Meta | Kind::Mark(b'!') => Ok(Field::Node(self.node_value()?)),
            Kind::Word if text == "null" || text == "distinct" => Ok(Field::Node(self.node_value()?)),
            Kind::Word => {
                // Flags: `A | B`.
                self.bump();
                while self.eat(b'|') {
                    self.bump();
                }
                Ok(Field::Else)
            }
            _ => Err(self.wrong("the value of a field")),
        }
    }
}

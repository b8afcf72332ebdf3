//! The definitions of a source file.

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Interface,
    Trait,
    Type,
    Module,
    Macro,
    Constant,
    Variable,
    /// A field, a property or an enum variant.
    Field,
    /// A block that adds methods to a type that is defined elsewhere.
    Implementation,
}

/// The kinds by which a search can be filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolGroup {
    Function,
    Type,
    Value,
    Module,
}

impl SymbolKind {
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            SymbolKind::Function => "function",
            SymbolKind::Method => "method",
            SymbolKind::Class => "class",
            SymbolKind::Struct => "struct",
            SymbolKind::Enum => "enum",
            SymbolKind::Interface => "interface",
            SymbolKind::Trait => "trait",
            SymbolKind::Type => "type",
            SymbolKind::Module => "module",
            SymbolKind::Macro => "macro",
            SymbolKind::Constant => "constant",
            SymbolKind::Variable => "variable",
            SymbolKind::Field => "field",
            SymbolKind::Implementation => "implementation",
        }
    }

    #[must_use]
    pub const fn group(self) -> SymbolGroup {
        match self {
            SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => SymbolGroup::Function,
            SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Type
            | SymbolKind::Implementation => SymbolGroup::Type,
            SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Field => SymbolGroup::Value,
            SymbolKind::Module => SymbolGroup::Module,
        }
    }

    /// Whether functions in it are its methods, and variables its fields.
    pub(crate) const fn has_members(self) -> bool {
        matches!(self.group(), SymbolGroup::Type)
    }

    /// Whether definitions inside belong to it.
    pub(crate) const fn is_scope(self) -> bool {
        !matches!(self.group(), SymbolGroup::Value)
    }

    /// Whether names inside are local to it.
    pub(crate) const fn has_locals(self) -> bool {
        matches!(self.group(), SymbolGroup::Function)
    }
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: Box<str>,
    pub kind: SymbolKind,
    /// The line of its name, from 1.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The symbol that contains it: an index into [`crate::ParsedSource::symbols`].
    pub parent: Option<u32>,
    /// The type or module that it belongs to, if the file says so.
    pub container: Option<Box<str>>,
    /// Its text without the body, on one line, shortened if it is long.
    pub signature: Box<str>,
}

impl Symbol {
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.signature.len() + self.container.as_ref().map_or(0, |name| name.len())
    }
}

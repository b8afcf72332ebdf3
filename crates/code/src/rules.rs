//! For each language: which nodes of its grammar are definitions, and which are names.
//!
//! The queries that come with the grammars omit constants, fields and most uses, and all uses in C and C++.

use crate::symbol::SymbolKind::{self, *};

pub(crate) struct Rules {
    /// The rules that this language shares with others.
    base: Option<&'static Rules>,
    definitions: &'static [Rule],
    /// Leaf nodes that are names.
    names: &'static [&'static str],
}

impl Rules {
    /// The language's own definitions and those of its base.
    pub fn definitions(&self) -> impl Iterator<Item = &'static Rule> {
        self.definitions.iter().chain(self.base.into_iter().flat_map(|base| base.definitions))
    }

    /// The language's own names and those of its base.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().chain(self.base.into_iter().flat_map(|base| base.names)).copied()
    }
}

#[derive(Debug)]
pub(crate) struct Rule {
    pub node: &'static str,
    pub kind: SymbolKind,
    /// The field with the name; several names in one node are several symbols. If empty, the first child that is a name.
    pub field: &'static str,
    pub when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// Local variables are not symbols.
    OutsideFunctions,
    /// Without a body it only mentions the type.
    HasBody,
    /// The value is a function.
    HoldsFunction,
    /// A function anywhere, or anything outside of functions.
    HoldsFunctionOrOutside,
    /// Only assignments to constants are definitions.
    NameIsConstant,
}

const fn named(node: &'static str, kind: SymbolKind) -> Rule {
    Rule { node, kind, field: "name", when: When::Always }
}

const fn rule(node: &'static str, kind: SymbolKind, field: &'static str, when: When) -> Rule {
    Rule { node, kind, field, when }
}

pub(crate) const RUST: Rules = Rules {
    base: None,
    definitions: &[
        named("function_item", Function),
        named("function_signature_item", Function),
        named("struct_item", Struct),
        named("union_item", Struct),
        named("enum_item", Enum),
        named("enum_variant", Field),
        named("trait_item", Trait),
        named("type_item", Type),
        named("associated_type", Type),
        named("mod_item", Module),
        named("macro_definition", Macro),
        named("const_item", Constant),
        named("static_item", Constant),
        named("field_declaration", Field),
        rule("impl_item", Implementation, "type", When::Always),
    ],
    names: &["identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"],
};

/// JavaScript and TypeScript.
const ECMASCRIPT: Rules = Rules {
    base: None,
    definitions: &[
        named("function_declaration", Function),
        named("generator_function_declaration", Function),
        named("class_declaration", Class),
        named("method_definition", Method),
        rule("variable_declarator", Variable, "name", When::HoldsFunctionOrOutside),
        rule("pair", Function, "key", When::HoldsFunction),
        rule("assignment_expression", Function, "left", When::HoldsFunction),
    ],
    names: &[
        "identifier",
        "property_identifier",
        "private_property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
    ],
};

pub(crate) const JAVASCRIPT: Rules =
    Rules { base: Some(&ECMASCRIPT), definitions: &[rule("field_definition", Field, "property", When::Always)], names: &[] };

pub(crate) const TYPESCRIPT: Rules = Rules {
    base: Some(&ECMASCRIPT),
    definitions: &[
        named("function_signature", Function),
        named("abstract_class_declaration", Class),
        named("interface_declaration", Interface),
        named("type_alias_declaration", Type),
        named("enum_declaration", Enum),
        named("enum_body", Field),
        named("enum_assignment", Field),
        named("internal_module", Module),
        named("module", Module),
        named("method_signature", Method),
        named("abstract_method_signature", Method),
        named("public_field_definition", Field),
        rule("property_signature", Field, "name", When::OutsideFunctions),
    ],
    names: &["type_identifier"],
};

pub(crate) const PYTHON: Rules = Rules {
    base: None,
    definitions: &[
        named("function_definition", Function),
        named("class_definition", Class),
        rule("assignment", Variable, "left", When::OutsideFunctions),
    ],
    names: &["identifier"],
};

pub(crate) const GO: Rules = Rules {
    base: None,
    definitions: &[
        named("function_declaration", Function),
        named("method_declaration", Method),
        named("method_elem", Method),
        named("type_spec", Type),
        named("type_alias", Type),
        rule("const_spec", Constant, "name", When::OutsideFunctions),
        rule("var_spec", Variable, "name", When::OutsideFunctions),
        rule("field_declaration", Field, "name", When::OutsideFunctions),
    ],
    names: &["identifier", "field_identifier", "type_identifier", "package_identifier"],
};

pub(crate) const JAVA: Rules = Rules {
    base: None,
    definitions: &[
        named("class_declaration", Class),
        named("record_declaration", Class),
        named("interface_declaration", Interface),
        named("annotation_type_declaration", Interface),
        named("enum_declaration", Enum),
        named("enum_constant", Field),
        named("method_declaration", Method),
        named("annotation_type_element_declaration", Method),
        named("constructor_declaration", Method),
        named("compact_constructor_declaration", Method),
        rule("variable_declarator", Variable, "name", When::OutsideFunctions),
    ],
    names: &["identifier", "type_identifier"],
};

pub(crate) const C: Rules = Rules {
    base: None,
    definitions: &[
        rule("function_definition", Function, "declarator", When::Always),
        rule("declaration", Variable, "declarator", When::OutsideFunctions),
        rule("struct_specifier", Struct, "name", When::HasBody),
        rule("union_specifier", Struct, "name", When::HasBody),
        rule("enum_specifier", Enum, "name", When::HasBody),
        named("enumerator", Field),
        rule("type_definition", Type, "declarator", When::Always),
        rule("field_declaration", Field, "declarator", When::Always),
        named("preproc_def", Macro),
        named("preproc_function_def", Macro),
    ],
    names: &["identifier", "field_identifier", "type_identifier"],
};

pub(crate) const CPP: Rules = Rules {
    base: Some(&C),
    definitions: &[
        rule("class_specifier", Class, "name", When::HasBody),
        named("alias_declaration", Type),
        named("concept_definition", Type),
        named("namespace_definition", Module),
    ],
    names: &["namespace_identifier"],
};

pub(crate) const C_SHARP: Rules = Rules {
    base: None,
    definitions: &[
        named("class_declaration", Class),
        named("record_declaration", Class),
        named("struct_declaration", Struct),
        named("interface_declaration", Interface),
        named("enum_declaration", Enum),
        named("enum_member_declaration", Field),
        named("delegate_declaration", Type),
        named("namespace_declaration", Module),
        named("file_scoped_namespace_declaration", Module),
        named("method_declaration", Method),
        named("constructor_declaration", Method),
        named("local_function_statement", Function),
        named("property_declaration", Field),
        named("event_declaration", Field),
        rule("variable_declarator", Variable, "name", When::OutsideFunctions),
    ],
    names: &["identifier"],
};

pub(crate) const RUBY: Rules = Rules {
    base: None,
    definitions: &[
        named("class", Class),
        named("module", Module),
        named("method", Function),
        named("singleton_method", Function),
        rule("assignment", Constant, "left", When::NameIsConstant),
    ],
    names: &["identifier", "constant", "simple_symbol"],
};

pub(crate) const PHP: Rules = Rules {
    base: None,
    definitions: &[
        named("namespace_definition", Module),
        named("class_declaration", Class),
        named("interface_declaration", Interface),
        named("trait_declaration", Trait),
        named("enum_declaration", Enum),
        named("enum_case", Field),
        named("function_definition", Function),
        named("method_declaration", Method),
        named("property_element", Field),
        rule("const_element", Constant, "", When::Always),
    ],
    names: &["name"],
};

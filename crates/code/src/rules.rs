//! Per language: which nodes of its grammar define something, and which are names.
//!
//! The queries that come with the grammars would leave out constants, fields and most uses, and all uses in C and C++.

use crate::symbol::SymbolKind::{self, *};

pub(crate) struct Rules {
    pub definitions: &'static [Rule],
    /// Leaves that are names.
    pub names: &'static [&'static str],
}

#[derive(Debug)]
pub(crate) struct Rule {
    pub node: &'static str,
    pub kind: SymbolKind,
    /// The field that has the name; several names in one node are several symbols. Empty: the first child that is a name.
    pub field: &'static str,
    pub when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// Local variables are no symbols.
    OutsideFunctions,
    /// Without a body it only mentions the type.
    HasBody,
    /// What is named is a function.
    HoldsFunction,
    /// Either: a function anywhere, or anything outside of functions.
    HoldsFunctionOrOutside,
    /// Only a constant is defined by assigning to it.
    NameIsConstant,
}

const fn named(node: &'static str, kind: SymbolKind) -> Rule {
    Rule { node, kind, field: "name", when: When::Always }
}

const fn rule(node: &'static str, kind: SymbolKind, field: &'static str, when: When) -> Rule {
    Rule { node, kind, field, when }
}

pub(crate) const RUST: Rules = Rules {
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

pub(crate) const JAVASCRIPT: Rules = Rules {
    definitions: &[
        named("function_declaration", Function),
        named("generator_function_declaration", Function),
        named("class_declaration", Class),
        named("method_definition", Method),
        rule("field_definition", Field, "property", When::Always),
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

pub(crate) const TYPESCRIPT: Rules = Rules {
    definitions: &[
        named("function_declaration", Function),
        named("generator_function_declaration", Function),
        named("function_signature", Function),
        named("class_declaration", Class),
        named("abstract_class_declaration", Class),
        named("interface_declaration", Interface),
        named("type_alias_declaration", Type),
        named("enum_declaration", Enum),
        named("enum_body", Field),
        named("enum_assignment", Field),
        named("internal_module", Module),
        named("module", Module),
        named("method_definition", Method),
        named("method_signature", Method),
        named("abstract_method_signature", Method),
        named("public_field_definition", Field),
        rule("property_signature", Field, "name", When::OutsideFunctions),
        rule("variable_declarator", Variable, "name", When::HoldsFunctionOrOutside),
        rule("pair", Function, "key", When::HoldsFunction),
        rule("assignment_expression", Function, "left", When::HoldsFunction),
    ],
    names: &[
        "identifier",
        "type_identifier",
        "property_identifier",
        "private_property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
    ],
};

pub(crate) const PYTHON: Rules = Rules {
    definitions: &[
        named("function_definition", Function),
        named("class_definition", Class),
        rule("assignment", Variable, "left", When::OutsideFunctions),
    ],
    names: &["identifier"],
};

pub(crate) const GO: Rules = Rules {
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
    definitions: &[
        rule("function_definition", Function, "declarator", When::Always),
        rule("declaration", Variable, "declarator", When::OutsideFunctions),
        rule("struct_specifier", Struct, "name", When::HasBody),
        rule("union_specifier", Struct, "name", When::HasBody),
        rule("class_specifier", Class, "name", When::HasBody),
        rule("enum_specifier", Enum, "name", When::HasBody),
        named("enumerator", Field),
        rule("type_definition", Type, "declarator", When::Always),
        named("alias_declaration", Type),
        named("concept_definition", Type),
        named("namespace_definition", Module),
        rule("field_declaration", Field, "declarator", When::Always),
        named("preproc_def", Macro),
        named("preproc_function_def", Macro),
    ],
    names: &["identifier", "field_identifier", "type_identifier", "namespace_identifier"],
};

pub(crate) const C_SHARP: Rules = Rules {
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

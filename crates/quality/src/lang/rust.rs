//! What the nodes of Rust's grammar are.

use crate::tree::Kind;

pub(super) fn kind(name: &str) -> Kind {
    match name {
        "source_file" => Kind::Module,
        "line_comment" | "block_comment" => Kind::Comment,
        "function_item" => Kind::Function,
        "function_signature_item" => Kind::Signature,
        "closure_expression" => Kind::Lambda,
        "struct_item" => Kind::Class,
        "impl_item" => Kind::Impl,
        "trait_item" => Kind::Interface,
        "enum_item" => Kind::Enum,
        "enum_variant" => Kind::EnumMember,
        "field_declaration" => Kind::Field,
        "parameters" | "closure_parameters" => Kind::Params,
        "parameter" => Kind::Param,
        "self_parameter" => Kind::SelfParam,
        "variadic_parameter" => Kind::SplatParam,
        "block" => Kind::Block,
        "expression_statement" => Kind::ExprStmt,
        "let_declaration" => Kind::Declarator,
        "const_item" => Kind::Const,
        "static_item" => Kind::Static,
        "assignment_expression" => Kind::Assign,
        "compound_assignment_expr" => Kind::AugAssign,
        "return_expression" => Kind::Return,
        "break_expression" | "continue_expression" => Kind::Jump,
        "if_expression" => Kind::If,
        "for_expression" | "while_expression" | "loop_expression" => Kind::Loop,
        "match_expression" => Kind::Switch,
        "match_arm" => Kind::Case,
        "match_pattern" => Kind::Label,
        "call_expression" => Kind::Call,
        "macro_invocation" => Kind::Macro,
        "field_expression" | "scoped_identifier" | "scoped_type_identifier" => Kind::Member,
        "index_expression" => Kind::Index,
        "range_expression" => Kind::Slice,
        "binary_expression" => Kind::Binary,
        "unary_expression" | "negative_literal" => Kind::Unary,
        "await_expression" => Kind::Await,
        "type_cast_expression" => Kind::Cast,
        "arguments" => Kind::Args,
        "field_initializer" => Kind::Pair,
        "struct_expression" => Kind::Dict,
        "array_expression" => Kind::List,
        "tuple_expression" => Kind::Tuple,
        "tuple_pattern" => Kind::Pattern,
        "integer_literal" | "float_literal" => Kind::Number,
        "string_literal" | "raw_string_literal" => Kind::Str,
        "boolean_literal" => Kind::Bool,
        "identifier" | "field_identifier" | "type_identifier" | "shorthand_field_identifier" => Kind::Ident,
        "self" => Kind::SelfRef,
        "attribute_item" | "inner_attribute_item" => Kind::Attribute,
        "visibility_modifier" | "function_modifiers" | "mutable_specifier" => Kind::Modifiers,
        "use_declaration" => Kind::Import,
        "reference_expression"
        | "try_expression"
        | "parenthesized_expression"
        | "else_clause"
        | "generic_function"
        | "unsafe_block" => Kind::Transparent,
        _ => Kind::Other,
    }
}

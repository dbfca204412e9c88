//! What the nodes of Go's grammar are.

use crate::tree::Kind;

pub(super) fn kind(name: &str) -> Kind {
    match name {
        "source_file" => Kind::Module,
        "comment" => Kind::Comment,
        "function_declaration" | "method_declaration" => Kind::Function,
        "func_literal" => Kind::Lambda,
        "type_spec" => Kind::Class,
        "interface_type" => Kind::Interface,
        "field_declaration" => Kind::Field,
        "parameter_list" => Kind::Params,
        "parameter_declaration" => Kind::Param,
        "variadic_parameter_declaration" => Kind::SplatParam,
        "block" => Kind::Block,
        "expression_statement" => Kind::ExprStmt,
        "var_declaration" => Kind::Decl,
        "var_spec" => Kind::Declarator,
        "const_spec" => Kind::Const,
        "assignment_statement" | "short_var_declaration" => Kind::Assign,
        "inc_statement" | "dec_statement" => Kind::Update,
        "return_statement" => Kind::Return,
        "break_statement" | "continue_statement" | "goto_statement" => Kind::Jump,
        "if_statement" => Kind::If,
        "for_statement" => Kind::Loop,
        "expression_switch_statement" => Kind::Switch,
        "expression_case" | "default_case" | "communication_case" | "type_case" => Kind::Case,
        "defer_statement" => Kind::Defer,
        "go_statement" => Kind::Spawn,
        "call_expression" => Kind::Call,
        "selector_expression" | "qualified_type" => Kind::Member,
        "index_expression" => Kind::Index,
        "slice_expression" => Kind::Slice,
        "binary_expression" => Kind::Binary,
        "unary_expression" => Kind::Unary,
        "type_assertion_expression" | "type_conversion_expression" => Kind::Cast,
        "argument_list" => Kind::Args,
        "keyed_element" => Kind::Pair,
        "composite_literal" => Kind::Dict,
        "expression_list" => Kind::Tuple,
        "int_literal" | "float_literal" => Kind::Number,
        "interpreted_string_literal" | "raw_string_literal" => Kind::Str,
        "true" | "false" => Kind::Bool,
        "nil" => Kind::Null,
        "identifier" | "field_identifier" | "type_identifier" | "package_identifier" => Kind::Ident,
        "import_declaration" => Kind::Import,
        "parenthesized_expression"
        | "statement_list"
        | "literal_element"
        | "literal_value"
        | "var_spec_list" => Kind::Transparent,
        _ => Kind::Other,
    }
}

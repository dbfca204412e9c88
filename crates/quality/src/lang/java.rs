//! What the nodes of Java's grammar are.

use crate::tree::Kind;

pub(super) fn kind(name: &str) -> Kind {
    match name {
        "program" => Kind::Module,
        "line_comment" | "block_comment" => Kind::Comment,
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
            Kind::Function
        }
        "lambda_expression" => Kind::Lambda,
        "class_declaration" | "record_declaration" => Kind::Class,
        "interface_declaration" => Kind::Interface,
        "enum_declaration" => Kind::Enum,
        "enum_constant" => Kind::EnumMember,
        "field_declaration" => Kind::Field,
        "formal_parameters" | "inferred_parameters" => Kind::Params,
        "formal_parameter" => Kind::Param,
        "spread_parameter" => Kind::SplatParam,
        "receiver_parameter" => Kind::SelfParam,
        "block" | "constructor_body" => Kind::Block,
        "expression_statement" => Kind::ExprStmt,
        "local_variable_declaration" => Kind::Decl,
        "variable_declarator" => Kind::Declarator,
        "assignment_expression" => Kind::Assign,
        "update_expression" => Kind::Update,
        "return_statement" => Kind::Return,
        "throw_statement" => Kind::Throw,
        "break_statement" | "continue_statement" | "yield_statement" => Kind::Jump,
        "if_statement" => Kind::If,
        "for_statement" | "enhanced_for_statement" | "while_statement" | "do_statement" => Kind::Loop,
        "switch_expression" => Kind::Switch,
        "switch_block_statement_group" | "switch_rule" => Kind::Case,
        "switch_label" => Kind::Label,
        "try_statement" | "try_with_resources_statement" => Kind::Try,
        "resource" => Kind::WithItem,
        "catch_clause" => Kind::Catch,
        "finally_clause" => Kind::Finally,
        "synchronized_statement" => Kind::Synchronized,
        "method_invocation" => Kind::Call,
        "object_creation_expression" => Kind::New,
        "field_access" | "scoped_identifier" => Kind::Member,
        "array_access" => Kind::Index,
        "binary_expression" => Kind::Binary,
        "unary_expression" => Kind::Unary,
        "ternary_expression" => Kind::Ternary,
        "cast_expression" => Kind::Cast,
        "argument_list" => Kind::Args,
        "array_initializer" => Kind::List,
        "decimal_integer_literal"
        | "hex_integer_literal"
        | "octal_integer_literal"
        | "binary_integer_literal"
        | "decimal_floating_point_literal"
        | "hex_floating_point_literal" => Kind::Number,
        "string_literal" => Kind::Str,
        "true" | "false" => Kind::Bool,
        "null_literal" => Kind::Null,
        "identifier" | "type_identifier" => Kind::Ident,
        "this" => Kind::SelfRef,
        "modifiers" => Kind::Modifiers,
        "import_declaration" => Kind::Import,
        "superclass" | "super_interfaces" => Kind::Heritage,
        "parenthesized_expression" | "array_creation_expression" => Kind::Transparent,
        _ => Kind::Other,
    }
}

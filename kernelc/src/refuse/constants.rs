//! Constants of libclang's `Index.h`.

/// The kinds of cursors: `CXCursorKind` of Index.h.
pub(super) mod kind {
    pub const UNION: i32 = 3;
    pub const STRUCT: i32 = 2;
    pub const CLASS: i32 = 4;
    pub const FUNCTION: i32 = 8;
    pub const VARIABLE: i32 = 9;
    pub const PARAMETER: i32 = 10;
    pub const METHOD: i32 = 21;
    pub const FIELD: i32 = 6;
    pub const MEMBER_INITIALIZER: i32 = 47;
    pub const NAMESPACE: i32 = 22;
    pub const LINKAGE: i32 = 23;
    pub const CONSTRUCTOR: i32 = 24;
    pub const DESTRUCTOR: i32 = 25;
    pub const CONVERSION: i32 = 26;
    pub const FUNCTION_TEMPLATE: i32 = 30;
    pub const CLASS_TEMPLATE: i32 = 31;
    pub const PARTIAL_SPECIALIZATION: i32 = 32;
    pub const BASE: i32 = 44;
    pub const VARIABLE_REFERENCE: i32 = 50;
    pub const FIRST_EXPRESSION: i32 = 100;
    pub const DECLARATION_REFERENCE: i32 = 101;
    pub const MEMBER_REFERENCE: i32 = 102;
    pub const CALL: i32 = 103;
    pub const INTEGER: i32 = 106;
    pub const FLOATING: i32 = 107;
    pub const STRING: i32 = 109;
    pub const CHARACTER: i32 = 110;
    pub const PARENTHESES: i32 = 111;
    pub const UNARY: i32 = 112;
    pub const SUBSCRIPT: i32 = 113;
    pub const BINARY: i32 = 114;
    pub const COMPOUND_ASSIGNMENT: i32 = 115;
    pub const CONDITIONAL: i32 = 116;
    pub const C_CAST: i32 = 117;
    pub const ADDRESS_OF_LABEL: i32 = 120;
    pub const NULL: i32 = 123;
    pub const STATIC_CAST: i32 = 124;
    pub const DYNAMIC_CAST: i32 = 125;
    pub const REINTERPRET_CAST: i32 = 126;
    pub const FUNCTIONAL_CAST: i32 = 128;
    pub const TYPEID: i32 = 129;
    pub const THROW: i32 = 133;
    pub const NEW: i32 = 134;
    pub const DELETE: i32 = 135;
    pub const SIZE_OF: i32 = 136;
    pub const STATIC_ASSERT: i32 = 602;
    pub const LAMBDA: i32 = 144;
    pub const LABEL: i32 = 201;
    pub const COMPOUND: i32 = 202;
    pub const GOTO: i32 = 210;
    pub const COMPUTED_GOTO: i32 = 211;
    pub const RETURN: i32 = 214;
    pub const ASSEMBLY: i32 = 215;
    pub const CATCH: i32 = 223;
    pub const TRY: i32 = 224;
    pub const MS_ASSEMBLY: i32 = 229;
    pub const FIRST_ATTRIBUTE: i32 = 400;
    pub const LAST_ATTRIBUTE: i32 = 499;
    pub const DEVICE_ATTRIBUTE: i32 = 413;
    pub const HOST_ATTRIBUTE: i32 = 415;
    pub const SHARED_ATTRIBUTE: i32 = 416;
    pub const FRIEND: i32 = 603;
}

/// The kinds of types: `CXTypeKind` of Index.h.
pub(super) mod ty {
    pub const UNEXPOSED: i32 = 1;
    pub const VOID: i32 = 2;
    pub const BOOL: i32 = 3;
    pub const UNSIGNED: i32 = 9;
    pub const UNSIGNED_LONG: i32 = 10;
    pub const CHAR: i32 = 13;
    pub const INT: i32 = 17;
    pub const LONG: i32 = 18;
    pub const FIRST_NUMBER: i32 = 3;
    pub const LAST_INTEGER: i32 = 20;
    pub const FLOAT: i32 = 21;
    pub const DOUBLE: i32 = 22;
    pub const LONG_DOUBLE: i32 = 23;
    pub const NULLPTR: i32 = 24;
    pub const FLOAT_128: i32 = 30;
    pub const BFLOAT_16: i32 = 39;
    pub const COMPLEX: i32 = 100;
    pub const POINTER: i32 = 101;
    pub const LVALUE_REFERENCE: i32 = 103;
    pub const RVALUE_REFERENCE: i32 = 104;
    pub const RECORD: i32 = 105;
    pub const ENUM: i32 = 106;
    pub const FUNCTION: i32 = 111;
    pub const ARRAY: i32 = 112;
    pub const ARRAY_WITHOUT_LENGTH: i32 = 114;
    pub const MEMBER_POINTER: i32 = 117;
    pub const AUTO: i32 = 118;
}

/// The storage classes of variables: `CX_StorageClass` of Index.h.
pub(super) mod storage {
    pub const STATIC: i32 = 3;
}

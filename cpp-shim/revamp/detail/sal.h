// The annotations of <sal.h> and <concurrencysal.h> of Visual Studio 2012 to 2019. They expand to nothing, and existing
// definitions are kept. revamp-port reads this list too.
#ifndef REVAMP_DETAIL_SAL_H
#define REVAMP_DETAIL_SAL_H

// Parameters.
#ifndef _In_
#define _In_
#endif
#ifndef _In_opt_
#define _In_opt_
#endif
#ifndef _In_z_
#define _In_z_
#endif
#ifndef _In_opt_z_
#define _In_opt_z_
#endif
#ifndef _In_reads_
#define _In_reads_(...)
#endif
#ifndef _In_reads_opt_
#define _In_reads_opt_(...)
#endif
#ifndef _In_reads_bytes_
#define _In_reads_bytes_(...)
#endif
#ifndef _In_reads_bytes_opt_
#define _In_reads_bytes_opt_(...)
#endif
#ifndef _In_reads_z_
#define _In_reads_z_(...)
#endif
#ifndef _In_reads_opt_z_
#define _In_reads_opt_z_(...)
#endif
#ifndef _In_reads_or_z_
#define _In_reads_or_z_(...)
#endif
#ifndef _In_reads_or_z_opt_
#define _In_reads_or_z_opt_(...)
#endif
#ifndef _In_reads_to_ptr_
#define _In_reads_to_ptr_(...)
#endif
#ifndef _In_reads_to_ptr_opt_
#define _In_reads_to_ptr_opt_(...)
#endif
#ifndef _In_reads_to_ptr_z_
#define _In_reads_to_ptr_z_(...)
#endif
#ifndef _In_reads_to_ptr_opt_z_
#define _In_reads_to_ptr_opt_z_(...)
#endif
#ifndef _Out_
#define _Out_
#endif
#ifndef _Out_opt_
#define _Out_opt_
#endif
#ifndef _Out_writes_
#define _Out_writes_(...)
#endif
#ifndef _Out_writes_opt_
#define _Out_writes_opt_(...)
#endif
#ifndef _Out_writes_z_
#define _Out_writes_z_(...)
#endif
#ifndef _Out_writes_opt_z_
#define _Out_writes_opt_z_(...)
#endif
#ifndef _Out_writes_bytes_
#define _Out_writes_bytes_(...)
#endif
#ifndef _Out_writes_bytes_opt_
#define _Out_writes_bytes_opt_(...)
#endif
#ifndef _Out_writes_to_
#define _Out_writes_to_(...)
#endif
#ifndef _Out_writes_to_opt_
#define _Out_writes_to_opt_(...)
#endif
#ifndef _Out_writes_bytes_to_
#define _Out_writes_bytes_to_(...)
#endif
#ifndef _Out_writes_bytes_to_opt_
#define _Out_writes_bytes_to_opt_(...)
#endif
#ifndef _Out_writes_all_
#define _Out_writes_all_(...)
#endif
#ifndef _Out_writes_all_opt_
#define _Out_writes_all_opt_(...)
#endif
#ifndef _Out_writes_bytes_all_
#define _Out_writes_bytes_all_(...)
#endif
#ifndef _Out_writes_bytes_all_opt_
#define _Out_writes_bytes_all_opt_(...)
#endif
#ifndef _Out_writes_to_ptr_
#define _Out_writes_to_ptr_(...)
#endif
#ifndef _Out_writes_to_ptr_opt_
#define _Out_writes_to_ptr_opt_(...)
#endif
#ifndef _Out_writes_to_ptr_z_
#define _Out_writes_to_ptr_z_(...)
#endif
#ifndef _Out_writes_to_ptr_opt_z_
#define _Out_writes_to_ptr_opt_z_(...)
#endif
#ifndef _Inout_
#define _Inout_
#endif
#ifndef _Inout_opt_
#define _Inout_opt_
#endif
#ifndef _Inout_z_
#define _Inout_z_
#endif
#ifndef _Inout_opt_z_
#define _Inout_opt_z_
#endif
#ifndef _Inout_updates_
#define _Inout_updates_(...)
#endif
#ifndef _Inout_updates_opt_
#define _Inout_updates_opt_(...)
#endif
#ifndef _Inout_updates_z_
#define _Inout_updates_z_(...)
#endif
#ifndef _Inout_updates_opt_z_
#define _Inout_updates_opt_z_(...)
#endif
#ifndef _Inout_updates_bytes_
#define _Inout_updates_bytes_(...)
#endif
#ifndef _Inout_updates_bytes_opt_
#define _Inout_updates_bytes_opt_(...)
#endif
#ifndef _Inout_updates_to_
#define _Inout_updates_to_(...)
#endif
#ifndef _Inout_updates_to_opt_
#define _Inout_updates_to_opt_(...)
#endif
#ifndef _Inout_updates_bytes_to_
#define _Inout_updates_bytes_to_(...)
#endif
#ifndef _Inout_updates_bytes_to_opt_
#define _Inout_updates_bytes_to_opt_(...)
#endif
#ifndef _Inout_updates_all_
#define _Inout_updates_all_(...)
#endif
#ifndef _Inout_updates_all_opt_
#define _Inout_updates_all_opt_(...)
#endif
#ifndef _Inout_updates_bytes_all_
#define _Inout_updates_bytes_all_(...)
#endif
#ifndef _Inout_updates_bytes_all_opt_
#define _Inout_updates_bytes_all_opt_(...)
#endif
#ifndef _Reserved_
#define _Reserved_
#endif
#ifndef _Const_
#define _Const_
#endif
#ifndef _In_bound_
#define _In_bound_
#endif
#ifndef _Out_bound_
#define _Out_bound_
#endif
#ifndef _Deref_out_bound_
#define _Deref_out_bound_
#endif
#ifndef _In_range_
#define _In_range_(...)
#endif
#ifndef _Out_range_
#define _Out_range_(...)
#endif
#ifndef _Inout_range_
#define _Inout_range_(...)
#endif
#ifndef _Deref_in_range_
#define _Deref_in_range_(...)
#endif
#ifndef _Deref_out_range_
#define _Deref_out_range_(...)
#endif
#ifndef _Deref_inout_range_
#define _Deref_inout_range_(...)
#endif
#ifndef _In_function_class_
#define _In_function_class_(...)
#endif
#ifndef _Points_to_data_
#define _Points_to_data_
#endif
#ifndef _Literal_
#define _Literal_
#endif
#ifndef _Notliteral_
#define _Notliteral_
#endif
#ifndef _Unchanged_
#define _Unchanged_(...)
#endif
#ifndef _Printf_format_string_
#define _Printf_format_string_
#endif
#ifndef _Scanf_format_string_
#define _Scanf_format_string_
#endif
#ifndef _Scanf_s_format_string_
#define _Scanf_s_format_string_
#endif
#ifndef _Printf_format_string_params_
#define _Printf_format_string_params_(...)
#endif
#ifndef _Scanf_format_string_params_
#define _Scanf_format_string_params_(...)
#endif
#ifndef _Scanf_s_format_string_params_
#define _Scanf_s_format_string_params_(...)
#endif

// Pointers and references through which a function returns values.
#ifndef _Outptr_
#define _Outptr_
#endif
#ifndef _Outptr_opt_
#define _Outptr_opt_
#endif
#ifndef _Outptr_result_maybenull_
#define _Outptr_result_maybenull_
#endif
#ifndef _Outptr_opt_result_maybenull_
#define _Outptr_opt_result_maybenull_
#endif
#ifndef _Outptr_result_z_
#define _Outptr_result_z_
#endif
#ifndef _Outptr_opt_result_z_
#define _Outptr_opt_result_z_
#endif
#ifndef _Outptr_result_maybenull_z_
#define _Outptr_result_maybenull_z_
#endif
#ifndef _Outptr_opt_result_maybenull_z_
#define _Outptr_opt_result_maybenull_z_
#endif
#ifndef _Outptr_result_nullonfailure_
#define _Outptr_result_nullonfailure_
#endif
#ifndef _Outptr_opt_result_nullonfailure_
#define _Outptr_opt_result_nullonfailure_
#endif
#ifndef _COM_Outptr_
#define _COM_Outptr_
#endif
#ifndef _COM_Outptr_opt_
#define _COM_Outptr_opt_
#endif
#ifndef _COM_Outptr_result_maybenull_
#define _COM_Outptr_result_maybenull_
#endif
#ifndef _COM_Outptr_opt_result_maybenull_
#define _COM_Outptr_opt_result_maybenull_
#endif
#ifndef _Outptr_result_buffer_
#define _Outptr_result_buffer_(...)
#endif
#ifndef _Outptr_opt_result_buffer_
#define _Outptr_opt_result_buffer_(...)
#endif
#ifndef _Outptr_result_buffer_maybenull_
#define _Outptr_result_buffer_maybenull_(...)
#endif
#ifndef _Outptr_opt_result_buffer_maybenull_
#define _Outptr_opt_result_buffer_maybenull_(...)
#endif
#ifndef _Outptr_result_buffer_to_
#define _Outptr_result_buffer_to_(...)
#endif
#ifndef _Outptr_opt_result_buffer_to_
#define _Outptr_opt_result_buffer_to_(...)
#endif
#ifndef _Outptr_result_buffer_all_
#define _Outptr_result_buffer_all_(...)
#endif
#ifndef _Outptr_opt_result_buffer_all_
#define _Outptr_opt_result_buffer_all_(...)
#endif
#ifndef _Outptr_result_buffer_all_maybenull_
#define _Outptr_result_buffer_all_maybenull_(...)
#endif
#ifndef _Outptr_opt_result_buffer_all_maybenull_
#define _Outptr_opt_result_buffer_all_maybenull_(...)
#endif
#ifndef _Outptr_result_bytebuffer_
#define _Outptr_result_bytebuffer_(...)
#endif
#ifndef _Outptr_opt_result_bytebuffer_
#define _Outptr_opt_result_bytebuffer_(...)
#endif
#ifndef _Outptr_result_bytebuffer_maybenull_
#define _Outptr_result_bytebuffer_maybenull_(...)
#endif
#ifndef _Outptr_opt_result_bytebuffer_maybenull_
#define _Outptr_opt_result_bytebuffer_maybenull_(...)
#endif
#ifndef _Outptr_result_bytebuffer_to_
#define _Outptr_result_bytebuffer_to_(...)
#endif
#ifndef _Outptr_opt_result_bytebuffer_to_
#define _Outptr_opt_result_bytebuffer_to_(...)
#endif
#ifndef _Outptr_result_bytebuffer_all_
#define _Outptr_result_bytebuffer_all_(...)
#endif
#ifndef _Outptr_opt_result_bytebuffer_all_
#define _Outptr_opt_result_bytebuffer_all_(...)
#endif
#ifndef _Outptr_result_bytebuffer_all_maybenull_
#define _Outptr_result_bytebuffer_all_maybenull_(...)
#endif
#ifndef _Outptr_opt_result_bytebuffer_all_maybenull_
#define _Outptr_opt_result_bytebuffer_all_maybenull_(...)
#endif
#ifndef _Outref_
#define _Outref_
#endif
#ifndef _Outref_result_maybenull_
#define _Outref_result_maybenull_
#endif
#ifndef _Outref_result_nullonfailure_
#define _Outref_result_nullonfailure_
#endif
#ifndef _Outref_result_buffer_
#define _Outref_result_buffer_(...)
#endif
#ifndef _Outref_result_bytebuffer_
#define _Outref_result_bytebuffer_(...)
#endif
#ifndef _Outref_result_buffer_to_
#define _Outref_result_buffer_to_(...)
#endif
#ifndef _Outref_result_bytebuffer_to_
#define _Outref_result_bytebuffer_to_(...)
#endif
#ifndef _Outref_result_buffer_all_
#define _Outref_result_buffer_all_(...)
#endif
#ifndef _Outref_result_bytebuffer_all_
#define _Outref_result_bytebuffer_all_(...)
#endif
#ifndef _Outref_result_buffer_maybenull_
#define _Outref_result_buffer_maybenull_(...)
#endif
#ifndef _Outref_result_bytebuffer_maybenull_
#define _Outref_result_bytebuffer_maybenull_(...)
#endif
#ifndef _Outref_result_buffer_to_maybenull_
#define _Outref_result_buffer_to_maybenull_(...)
#endif
#ifndef _Outref_result_bytebuffer_to_maybenull_
#define _Outref_result_bytebuffer_to_maybenull_(...)
#endif
#ifndef _Outref_result_buffer_all_maybenull_
#define _Outref_result_buffer_all_maybenull_(...)
#endif
#ifndef _Outref_result_bytebuffer_all_maybenull_
#define _Outref_result_bytebuffer_all_maybenull_(...)
#endif
#ifndef _Result_nullonfailure_
#define _Result_nullonfailure_
#endif
#ifndef _Result_zeroonfailure_
#define _Result_zeroonfailure_
#endif

// Results.
#ifndef _Ret_
#define _Ret_
#endif
#ifndef _Ret_z_
#define _Ret_z_
#endif
#ifndef _Ret_valid_
#define _Ret_valid_
#endif
#ifndef _Ret_null_
#define _Ret_null_
#endif
#ifndef _Ret_notnull_
#define _Ret_notnull_
#endif
#ifndef _Ret_maybenull_
#define _Ret_maybenull_
#endif
#ifndef _Ret_maybenull_z_
#define _Ret_maybenull_z_
#endif
#ifndef _Ret_writes_
#define _Ret_writes_(...)
#endif
#ifndef _Ret_writes_z_
#define _Ret_writes_z_(...)
#endif
#ifndef _Ret_writes_bytes_
#define _Ret_writes_bytes_(...)
#endif
#ifndef _Ret_writes_maybenull_
#define _Ret_writes_maybenull_(...)
#endif
#ifndef _Ret_writes_maybenull_z_
#define _Ret_writes_maybenull_z_(...)
#endif
#ifndef _Ret_writes_bytes_maybenull_
#define _Ret_writes_bytes_maybenull_(...)
#endif
#ifndef _Ret_writes_to_
#define _Ret_writes_to_(...)
#endif
#ifndef _Ret_writes_bytes_to_
#define _Ret_writes_bytes_to_(...)
#endif
#ifndef _Ret_writes_to_maybenull_
#define _Ret_writes_to_maybenull_(...)
#endif
#ifndef _Ret_writes_bytes_to_maybenull_
#define _Ret_writes_bytes_to_maybenull_(...)
#endif
#ifndef _Ret_range_
#define _Ret_range_(...)
#endif
#ifndef _Deref_ret_range_
#define _Deref_ret_range_(...)
#endif
#ifndef _Check_return_
#define _Check_return_
#endif
#ifndef _Check_return_opt_
#define _Check_return_opt_
#endif
#ifndef _Check_return_wat_
#define _Check_return_wat_
#endif
#ifndef _Must_inspect_result_
#define _Must_inspect_result_
#endif
#ifndef _Success_
#define _Success_(...)
#endif
#ifndef _Return_type_success_
#define _Return_type_success_(...)
#endif
#ifndef _On_failure_
#define _On_failure_(...)
#endif
#ifndef _Always_
#define _Always_(...)
#endif
#ifndef _Maybe_raises_SEH_exception_
#define _Maybe_raises_SEH_exception_
#endif
#ifndef _Raises_SEH_exception_
#define _Raises_SEH_exception_
#endif
#ifndef _Analysis_noreturn_
#define _Analysis_noreturn_
#endif

// Before and after a call.
#ifndef _Pre_
#define _Pre_
#endif
#ifndef _Pre_z_
#define _Pre_z_
#endif
#ifndef _Pre_valid_
#define _Pre_valid_
#endif
#ifndef _Pre_opt_valid_
#define _Pre_opt_valid_
#endif
#ifndef _Pre_invalid_
#define _Pre_invalid_
#endif
#ifndef _Pre_unknown_
#define _Pre_unknown_
#endif
#ifndef _Pre_null_
#define _Pre_null_
#endif
#ifndef _Pre_notnull_
#define _Pre_notnull_
#endif
#ifndef _Pre_maybenull_
#define _Pre_maybenull_
#endif
#ifndef _Pre_readonly_
#define _Pre_readonly_
#endif
#ifndef _Pre_writeonly_
#define _Pre_writeonly_
#endif
#ifndef _Pre_defensive_
#define _Pre_defensive_
#endif
#ifndef _Pre_readable_size_
#define _Pre_readable_size_(...)
#endif
#ifndef _Pre_readable_byte_size_
#define _Pre_readable_byte_size_(...)
#endif
#ifndef _Pre_writable_size_
#define _Pre_writable_size_(...)
#endif
#ifndef _Pre_writable_byte_size_
#define _Pre_writable_byte_size_(...)
#endif
#ifndef _Pre_satisfies_
#define _Pre_satisfies_(...)
#endif
#ifndef _Pre_equal_to_
#define _Pre_equal_to_(...)
#endif
#ifndef _Post_
#define _Post_
#endif
#ifndef _Post_z_
#define _Post_z_
#endif
#ifndef _Post_valid_
#define _Post_valid_
#endif
#ifndef _Post_invalid_
#define _Post_invalid_
#endif
#ifndef _Post_null_
#define _Post_null_
#endif
#ifndef _Post_notnull_
#define _Post_notnull_
#endif
#ifndef _Post_maybenull_
#define _Post_maybenull_
#endif
#ifndef _Post_maybez_
#define _Post_maybez_
#endif
#ifndef _Post_ptr_invalid_
#define _Post_ptr_invalid_
#endif
#ifndef _Post_defensive_
#define _Post_defensive_
#endif
#ifndef _Post_readable_size_
#define _Post_readable_size_(...)
#endif
#ifndef _Post_readable_byte_size_
#define _Post_readable_byte_size_(...)
#endif
#ifndef _Post_writable_size_
#define _Post_writable_size_(...)
#endif
#ifndef _Post_writable_byte_size_
#define _Post_writable_byte_size_(...)
#endif
#ifndef _Post_satisfies_
#define _Post_satisfies_(...)
#endif
#ifndef _Post_equal_to_
#define _Post_equal_to_(...)
#endif
#ifndef _Prepost_z_
#define _Prepost_z_
#endif
#ifndef _Deref_pre_
#define _Deref_pre_
#endif
#ifndef _Deref_post_
#define _Deref_post_
#endif
#ifndef _Deref_pre_z_
#define _Deref_pre_z_
#endif
#ifndef _Deref_post_z_
#define _Deref_post_z_
#endif
#ifndef _Deref_pre_valid_
#define _Deref_pre_valid_
#endif
#ifndef _Deref_post_valid_
#define _Deref_post_valid_
#endif
#ifndef _Deref_pre_readonly_
#define _Deref_pre_readonly_
#endif
#ifndef _Deref_pre_writeonly_
#define _Deref_pre_writeonly_
#endif
#ifndef _Deref_post_maybenull_
#define _Deref_post_maybenull_
#endif
#ifndef _Deref_post_notnull_
#define _Deref_post_notnull_
#endif
#ifndef _Deref_post_null_
#define _Deref_post_null_
#endif
#ifndef _Frees_ptr_
#define _Frees_ptr_
#endif
#ifndef _Frees_ptr_opt_
#define _Frees_ptr_opt_
#endif
#ifndef _Use_decl_annotations_
#define _Use_decl_annotations_
#endif
#ifndef _At_
#define _At_(...)
#endif
#ifndef _At_buffer_
#define _At_buffer_(...)
#endif
#ifndef _When_
#define _When_(...)
#endif
#ifndef _Group_
#define _Group_(...)
#endif
#ifndef _Null_
#define _Null_
#endif
#ifndef _Notnull_
#define _Notnull_
#endif
#ifndef _Maybenull_
#define _Maybenull_
#endif
#ifndef _Valid_
#define _Valid_
#endif
#ifndef _Notvalid_
#define _Notvalid_
#endif
#ifndef _Maybevalid_
#define _Maybevalid_
#endif
#ifndef _Readable_bytes_
#define _Readable_bytes_(...)
#endif
#ifndef _Readable_elements_
#define _Readable_elements_(...)
#endif
#ifndef _Writable_bytes_
#define _Writable_bytes_(...)
#endif
#ifndef _Writable_elements_
#define _Writable_elements_(...)
#endif
#ifndef _Null_terminated_
#define _Null_terminated_
#endif
#ifndef _NullNull_terminated_
#define _NullNull_terminated_
#endif
#ifndef _Satisfies_
#define _Satisfies_(...)
#endif
#ifndef _Analysis_assume_
#define _Analysis_assume_(...)
#endif
#ifndef _Analysis_assume_nullterminated_
#define _Analysis_assume_nullterminated_(...)
#endif

// Types and members.
#ifndef _Field_size_
#define _Field_size_(...)
#endif
#ifndef _Field_size_opt_
#define _Field_size_opt_(...)
#endif
#ifndef _Field_size_part_
#define _Field_size_part_(...)
#endif
#ifndef _Field_size_part_opt_
#define _Field_size_part_opt_(...)
#endif
#ifndef _Field_size_full_
#define _Field_size_full_(...)
#endif
#ifndef _Field_size_full_opt_
#define _Field_size_full_opt_(...)
#endif
#ifndef _Field_size_bytes_
#define _Field_size_bytes_(...)
#endif
#ifndef _Field_size_bytes_opt_
#define _Field_size_bytes_opt_(...)
#endif
#ifndef _Field_size_bytes_part_
#define _Field_size_bytes_part_(...)
#endif
#ifndef _Field_size_bytes_part_opt_
#define _Field_size_bytes_part_opt_(...)
#endif
#ifndef _Field_size_bytes_full_
#define _Field_size_bytes_full_(...)
#endif
#ifndef _Field_size_bytes_full_opt_
#define _Field_size_bytes_full_opt_(...)
#endif
#ifndef _Field_z_
#define _Field_z_
#endif
#ifndef _Field_range_
#define _Field_range_(...)
#endif
#ifndef _Struct_size_bytes_
#define _Struct_size_bytes_(...)
#endif
#ifndef _Enum_is_bitflag_
#define _Enum_is_bitflag_
#endif
#ifndef _Strict_type_match_
#define _Strict_type_match_
#endif
#ifndef _Function_class_
#define _Function_class_(...)
#endif
#ifndef _Called_from_function_class_
#define _Called_from_function_class_(...)
#endif

// Locks, of <concurrencysal.h>.
#ifndef _Acquires_lock_
#define _Acquires_lock_(...)
#endif
#ifndef _Acquires_exclusive_lock_
#define _Acquires_exclusive_lock_(...)
#endif
#ifndef _Acquires_shared_lock_
#define _Acquires_shared_lock_(...)
#endif
#ifndef _Acquires_nonreentrant_lock_
#define _Acquires_nonreentrant_lock_(...)
#endif
#ifndef _Releases_lock_
#define _Releases_lock_(...)
#endif
#ifndef _Releases_exclusive_lock_
#define _Releases_exclusive_lock_(...)
#endif
#ifndef _Releases_shared_lock_
#define _Releases_shared_lock_(...)
#endif
#ifndef _Releases_nonreentrant_lock_
#define _Releases_nonreentrant_lock_(...)
#endif
#ifndef _Requires_lock_held_
#define _Requires_lock_held_(...)
#endif
#ifndef _Requires_lock_not_held_
#define _Requires_lock_not_held_(...)
#endif
#ifndef _Requires_exclusive_lock_held_
#define _Requires_exclusive_lock_held_(...)
#endif
#ifndef _Requires_shared_lock_held_
#define _Requires_shared_lock_held_(...)
#endif
#ifndef _Requires_no_locks_held_
#define _Requires_no_locks_held_
#endif
#ifndef _Post_same_lock_
#define _Post_same_lock_(...)
#endif
#ifndef _Guarded_by_
#define _Guarded_by_(...)
#endif
#ifndef _Write_guarded_by_
#define _Write_guarded_by_(...)
#endif
#ifndef _Has_lock_kind_
#define _Has_lock_kind_(...)
#endif
#ifndef _Has_lock_level_
#define _Has_lock_level_(...)
#endif
#ifndef _Create_lock_level_
#define _Create_lock_level_(...)
#endif
#ifndef _Lock_level_order_
#define _Lock_level_order_(...)
#endif
#ifndef _Interlocked_
#define _Interlocked_
#endif
#ifndef _Interlocked_operand_
#define _Interlocked_operand_
#endif
#ifndef _No_competing_thread_
#define _No_competing_thread_
#endif
#ifndef _Analysis_assume_lock_held_
#define _Analysis_assume_lock_held_(...)
#endif
#ifndef _Analysis_assume_lock_not_held_
#define _Analysis_assume_lock_not_held_(...)
#endif
#ifndef _Analysis_assume_lock_acquired_
#define _Analysis_assume_lock_acquired_(...)
#endif
#ifndef _Analysis_assume_lock_released_
#define _Analysis_assume_lock_released_(...)
#endif

#endif

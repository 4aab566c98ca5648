int expected_workgroup_size(void) {
    return 64;
}

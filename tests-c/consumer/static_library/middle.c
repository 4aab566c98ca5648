int middle_size(void) {
    return 64;
}

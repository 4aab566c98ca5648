int library_unused(void) {
    return 0;
}

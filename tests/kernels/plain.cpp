// Launches nothing: for the project's own compiler.
int plain(int);
int plain(int x) {
#if defined(__HIP__)
    return -1;
#else
    return x;
#endif
}

// Launches nothing, so the project's own compiler compiles it.
int plain(int);
int plain(int x) {
#if defined(__HIP__)
    return -1;
#else
    return x;
#endif
}

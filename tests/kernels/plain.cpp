// A source without launches. The project's compiler must compile it, so __HIP__ must not be defined.
int plain(int);
int plain(int x) {
#if defined(__HIP__)
    return -1;
#else
    return x;
#endif
}

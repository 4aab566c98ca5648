/* This header needs nothing before it. */
#include <revamp_objects.h>

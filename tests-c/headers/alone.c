/* The header needs nothing before it. */
#include <revamp.h>

/* The header can be included again. */
#include <revamp.h>

/* Tests that revamp.h compiles without another header before it. */
#include <revamp.h>

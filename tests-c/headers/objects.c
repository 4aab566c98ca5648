/* Tests that revamp_objects.h compiles without another header before it. */
#include <revamp_objects.h>

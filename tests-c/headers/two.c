/* The second translation unit of the test in one.c. */
#include <revamp.h>

revamp_argument argument_of_two(void);

revamp_argument argument_of_two(void) {
    return revamp_argument_buffer(1, NULL);
}

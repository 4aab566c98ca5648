/* Tests that two translation units that include revamp.h (this file and two.c) can be linked together. */
#include <revamp.h>

revamp_argument argument_of_two(void);

int main(void) {
    revamp_argument a = revamp_argument_buffer(1, NULL);
    return a.binding == argument_of_two().binding && revamp_abi_version() == REVAMP_ABI_VERSION ? 0 : 1;
}

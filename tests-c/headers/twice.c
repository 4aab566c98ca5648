/* Tests that revamp.h can be included twice. clang-format would remove the second #include. */
/* clang-format off */
#include <revamp.h>
#include <revamp.h>
/* clang-format on */

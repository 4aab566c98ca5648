/* A plugin that uses the library in a process with other users. process.c loads this plugin twice, under two names. */
#include <revamp.h>

#include <stddef.h>
#include <string.h>

static revamp_user user;
static revamp_accelerator_view view;
static revamp_array array;

/* Creates a user and objects if `what` begins with b, uses the objects if `what` begins with u, and otherwise destroys
 * the user. */
revamp_status plugin_step(const char *what);
revamp_status plugin_step(const char *what) {
    const int32_t extent = 4;
    const uint32_t sent[4] = {1, 2, 3, 4};
    uint32_t got[4];
    revamp_accelerator host;
    revamp_status status = REVAMP_OK;
    switch (*what) {
    case 'b':
        status = revamp_user_create(&user);
        if (status == REVAMP_OK) status = revamp_accelerator_find("host", &host);
        if (status == REVAMP_OK) status = revamp_accelerator_create_view(host, REVAMP_QUEUING_MODE_AUTOMATIC, &view);
        if (status == REVAMP_OK) status = revamp_array_create(view, 1, &extent, 4, NULL, &array);
        return status;
    case 'u':
        status = revamp_copy_to_array(sent, sizeof sent, array);
        if (status == REVAMP_OK) status = revamp_copy_from_array(array, got, sizeof got);
        return status == REVAMP_OK && memcmp(sent, got, sizeof got) ? REVAMP_ERROR_INTERNAL : status;
    default:
        /* The plugin does not release its objects: the revamp_uninitialize() of the last user frees them. */
        status = revamp_user_destroy(user);
        return status == REVAMP_OK ? revamp_uninitialize() : status;
    }
}

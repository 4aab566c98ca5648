#include "logged_errors.h"
#include "support.h"
#include "system.h"

#include <pthread.h>
#include <string.h>

enum { MAX_TEXT = 1 << 14 };

static struct {
    pthread_mutex_t lock;
    char text[MAX_TEXT];
} collected = {PTHREAD_MUTEX_INITIALIZER, ""};

static void collect(revamp_log_level level, const char *message, void *context) {
    (void)context;
    if (level != REVAMP_LOG_ERROR) return;
    pthread_mutex_lock(&collected.lock);
    strncat(collected.text, message, MAX_TEXT - 1 - strlen(collected.text));
    strncat(collected.text, "\n", MAX_TEXT - 1 - strlen(collected.text));
    pthread_mutex_unlock(&collected.lock);
}

void collect_errors(void) {
    REQUIRE_OK(revamp_set_log_callback(collect, NULL, REVAMP_LOG_ERROR));
}

const char *logged_errors(void) {
    static char text[MAX_TEXT];
    pthread_mutex_lock(&collected.lock);
    strcpy(text, collected.text);
    collected.text[0] = 0;
    pthread_mutex_unlock(&collected.lock);
    return text;
}

const char *wait_for_errors(void) {
    const char *text = logged_errors();
    for (int i = 0; i < 10000 && !text[0]; i++) {
        pause_milliseconds(1);
        text = logged_errors();
    }
    return text;
}

void check_race(const char *first, const char *second, const char *file, int line) {
    const char *text = wait_for_errors();
    check_text(text, "race", file, line);
    check_text(text, first, file, line);
    check_text(text, second, file, line);
}

void check_no_race(const char *file, int line) {
    const char *text = logged_errors();
    if (text[0]) check_fail(file, line, "a race was reported: %s", text);
}

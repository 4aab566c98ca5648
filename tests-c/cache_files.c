/* The pipeline cache on disk, where others had a hand in it, and an environment that is a stranger's. */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRANGER = 65534, PATH_SIZE = 200 };

CHILD(uses_kernels) {
    FOR_EACH_PLACE(p, runs_spirv) {
        revamp_kernel kernel = load(p->accelerator, &step_module);
        revamp_array array = array_with(p->view, (const uint32_t[]){1, 2}, 2);
        CHECK_OK(launch_step(p->view, kernel, array));
        CHECK_NUMBER(((uint32_t *)read_array(array))[1], 7);
        CHECK_OK(revamp_array_destroy(array));
        CHECK_OK(revamp_kernel_release(kernel));
    }
    CHECK_OK(revamp_uninitialize());
}

/* A new folder of ours. */
static const char *new_folder(void) {
    char *folder = memory(PATH_SIZE);
    strcpy(folder, "/tmp/revamp-test-XXXXXX");
    REQUIRE(mkdtemp(folder));
    return folder;
}

static void remove_folder(const char *folder) {
    CHECK_NUMBER(run_program("/bin/rm", "-rf", folder, NULL).exit_code, 0);
}

/* Does something to a file. */
typedef bool (*change)(const char *path);

static bool nothing(const char *path) {
    (void)path;
    return true;
}
static bool make_fifo(const char *path) {
    return !unlink(path) && !mkfifo(path, 0600);
}
static bool make_link(const char *path) {
    return !unlink(path) && !symlink("/dev/zero", path);
}
static bool make_writable(const char *path) {
    return !chmod(path, 0666);
}
static bool give_away(const char *path) {
    return !chown(path, STRANGER, STRANGER);
}

/* The caches in the folder, each changed. */
static size_t caches(const char *folder, change how) {
    DIR *list = opendir(folder);
    size_t count = 0;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        if (!strstr(entry->d_name, ".bin")) continue;
        char path[2 * PATH_SIZE];
        snprintf(path, sizeof path, "%s/%.190s", folder, entry->d_name);
        CHECK(how(path));
        count++;
    }
    if (list) closedir(list);
    return count;
}

/* A start with that folder, at the default log level. */
static const char *start_with(const char *folder) {
    char variable[PATH_SIZE + 20];
    snprintf(variable, sizeof variable, "REVAMP_CACHE_DIR=%s", folder);
    child_result r = run_child("uses_kernels", variable, "REVAMP_LOG=", "CHECK_TIME_LIMIT=40", NULL);
    check_child(&r, __FILE__, __LINE__);
    return r.output;
}

/* Changed so, no cache is used, and the user is told; a good one takes its place if it may. */
static void refuses(change how, const char *text, bool is_of_folder) {
    const char *folder = new_folder();
    CHECK_TEXT(start_with(folder), "");
    REQUIRE(caches(folder, nothing) > 0);
    if (is_of_folder)
        CHECK(how(folder));
    else
        caches(folder, how);
    const char *said = start_with(folder);
    CHECK_TEXT(said, "revamp [warn] the pipeline cache");
    CHECK_TEXT(said, text);
    CHECK(!strstr(start_with(folder), "revamp [warn]") == !is_of_folder);
    remove_folder(folder);
}

TEST(a_cache_that_is_no_file_is_not_used) {
    some_place(runs_spirv);
    refuses(make_fifo, "not a regular file", false);
    refuses(make_link, "symbolic link", false);
}

TEST(a_cache_that_others_may_write_is_not_used) {
    some_place(runs_spirv);
    refuses(make_writable, "other users may write", false);
    refuses(make_writable, "other users may write", true);
}

TEST(a_cache_of_another_user_is_not_used) {
    some_place(runs_spirv);
    if (geteuid() != 0) check_skip("only root can give files away");
    refuses(give_away, "belongs to user 65534", false);
    refuses(give_away, "belongs to user 65534", true);
}

TEST(a_cache_is_for_its_user_alone) {
    some_place(runs_spirv);
    const char *folder = new_folder();
    char inner[PATH_SIZE];
    snprintf(inner, sizeof inner, "%s/a", folder);
    start_with(inner);
    struct stat about;
    REQUIRE(!stat(inner, &about));
    CHECK_NUMBER(about.st_mode & 0777, 0700);
    CHECK(caches(inner, nothing) > 0);
    remove_folder(folder);
}

/* A program with more rights than who started it: what the environment names is a stranger's. */
TEST(a_set_user_id_program_reads_no_variable) {
    if (geteuid() != 0) check_skip("only root can make such a program");
#ifdef __SANITIZE_ADDRESS__
    check_skip("LeakSanitizer cannot look into such a program");
#endif
    const char *folder = new_folder();
    char program[PATH_SIZE], own[PATH_SIZE], home[PATH_SIZE], xdg[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    REQUIRE(length > 0);
    own[length] = 0;
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(xdg, sizeof xdg, "%s/xdg", folder);
    CHECK_NUMBER(run_program("/bin/cp", own, program, NULL).exit_code, 0);
    REQUIRE(!chown(program, STRANGER, STRANGER) && !chmod(program, 04755) && !chmod(folder, 01777));
    REQUIRE(!setenv("REVAMP_CACHE_DIR", folder, 1) && !setenv("XDG_CACHE_HOME", xdg, 1) && !setenv("HOME", home, 1));
    REQUIRE(!setenv("REVAMP_LOG", "debug", 1));
    child_result r = run_program(program, "--child", "uses_kernels", NULL);
    /* Also where it is found beside the program only: such a program looks for it in fixed places. */
    if (r.exit_code == 127) check_skip("%s", r.output);
    if (r.exit_code != 77) check_child(&r, __FILE__, __LINE__);
    CHECK(!strstr(r.output, "revamp ["));
    CHECK_NUMBER(caches(folder, nothing), 0);
    CHECK(access(home, F_OK) && access(xdg, F_OK));
    /* The same program, not raised. */
    REQUIRE(!chown(program, 0, 0) && !chmod(program, 0755));
    r = run_program(program, "--child", "uses_kernels", NULL);
    CHECK_TEXT(r.output, "revamp [");
    remove_folder(folder);
}

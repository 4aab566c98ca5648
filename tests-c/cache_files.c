/* The library must not trust other users: neither their pipeline cache files nor their environment variables. */
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHER_USER = 65534, PATH_SIZE = 200 };

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

/* Creates a temporary folder. */
static const char *new_folder(void) {
    char *folder = memory(PATH_SIZE);
    strcpy(folder, "/tmp/revamp-test-XXXXXX");
    REQUIRE(mkdtemp(folder));
    return folder;
}

static void remove_folder(const char *folder) {
    CHECK_NUMBER(run_program("/bin/rm", "-rf", folder, NULL).exit_code, 0);
}

/* Changes a file or folder. Returns true on success. */
typedef bool (*file_change)(const char *path);

static bool leave_unchanged(const char *path) {
    (void)path;
    return true;
}
static bool make_fifo(const char *path) {
    return !unlink(path) && !mkfifo(path, 0600);
}
static bool make_symbolic_link(const char *path) {
    return !unlink(path) && !symlink("/dev/zero", path);
}
static bool make_writable(const char *path) {
    return !chmod(path, 0666);
}
static bool give_away(const char *path) {
    return !chown(path, OTHER_USER, OTHER_USER);
}

/* Changes each cache file in the folder, and returns the number of cache files. */
static size_t change_caches(const char *folder, file_change change) {
    DIR *list = opendir(folder);
    size_t count = 0;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        if (!strstr(entry->d_name, ".bin")) continue;
        char path[2 * PATH_SIZE];
        snprintf(path, sizeof path, "%s/%.190s", folder, entry->d_name);
        CHECK(change(path));
        count++;
    }
    if (list) closedir(list);
    return count;
}

/* Runs a child process with this cache folder and the default log level. Returns the child's output. */
static const char *run_with_cache(const char *folder) {
    char variable[PATH_SIZE + 20];
    snprintf(variable, sizeof variable, "REVAMP_CACHE_DIR=%s", folder);
    child_result r = run_child("uses_kernels", variable, "REVAMP_LOG=", "CHECK_TIME_LIMIT=40", NULL);
    check_child(&r, __FILE__, __LINE__);
    return r.output;
}

/* The library warns about a bad file or folder and does not use it. It replaces a bad file, but not a bad folder. */
static void check_refused(file_change change, const char *text, bool changes_folder) {
    const char *folder = new_folder();
    CHECK_TEXT(run_with_cache(folder), "");
    REQUIRE(change_caches(folder, leave_unchanged) > 0);
    if (changes_folder)
        CHECK(change(folder));
    else
        change_caches(folder, change);
    const char *warnings = run_with_cache(folder);
    CHECK_TEXT(warnings, "revamp [warn] the pipeline cache");
    CHECK_TEXT(warnings, text);
    CHECK(!strstr(run_with_cache(folder), "revamp [warn]") == !changes_folder);
    remove_folder(folder);
}

TEST(a_cache_that_is_not_a_regular_file_is_not_used) {
    first_place_or_skip(runs_spirv);
    check_refused(make_fifo, "not a regular file", false);
    check_refused(make_symbolic_link, "symbolic link", false);
}

TEST(a_cache_that_others_may_write_is_not_used) {
    first_place_or_skip(runs_spirv);
    check_refused(make_writable, "other users may write", false);
    check_refused(make_writable, "other users may write", true);
}

TEST(a_cache_of_another_user_is_not_used) {
    first_place_or_skip(runs_spirv);
    if (geteuid() != 0) check_skip("only root can give files away");
    check_refused(give_away, "belongs to user 65534", false);
    check_refused(give_away, "belongs to user 65534", true);
}

TEST(only_the_user_can_access_the_cache) {
    first_place_or_skip(runs_spirv);
    const char *folder = new_folder();
    char inner[PATH_SIZE];
    snprintf(inner, sizeof inner, "%s/a", folder);
    run_with_cache(inner);
    struct stat folder_status;
    REQUIRE(!stat(inner, &folder_status));
    CHECK_NUMBER(folder_status.st_mode & 0777, 0700);
    CHECK(change_caches(inner, leave_unchanged) > 0);
    remove_folder(folder);
}

/* A program with more privileges than the user who starts it must not trust that user's environment. */
TEST(a_set_user_id_program_ignores_environment_variables) {
    if (geteuid() != 0) check_skip("only root can create a set-user-ID program of another user");
#ifdef __SANITIZE_ADDRESS__
    check_skip("LeakSanitizer cannot trace a set-user-ID program");
#endif
    const char *folder = new_folder();
    char program[PATH_SIZE], test_program[PATH_SIZE], home[PATH_SIZE], xdg[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", test_program, sizeof test_program - 1);
    REQUIRE(length > 0);
    test_program[length] = 0;
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(xdg, sizeof xdg, "%s/xdg", folder);
    CHECK_NUMBER(run_program("/bin/cp", test_program, program, NULL).exit_code, 0);
    REQUIRE(!chown(program, OTHER_USER, OTHER_USER) && !chmod(program, 04755) && !chmod(folder, 01777));
    REQUIRE(!setenv("REVAMP_CACHE_DIR", folder, 1) && !setenv("XDG_CACHE_HOME", xdg, 1) && !setenv("HOME", home, 1));
    REQUIRE(!setenv("REVAMP_LOG", "debug", 1));
    child_result r = run_program(program, "--child", "uses_kernels", NULL);
    /* The loader did not find the library: for a set-user-ID program, it searches only fixed folders. */
    if (r.exit_code == 127) check_skip("%s", r.output);
    if (r.exit_code != 77) check_child(&r, __FILE__, __LINE__);
    CHECK(!strstr(r.output, "revamp ["));
    CHECK_NUMBER(change_caches(folder, leave_unchanged), 0);
    CHECK(access(home, F_OK) && access(xdg, F_OK));
    /* Without the set-user-ID bit, the same program reads the variables. */
    REQUIRE(!chown(program, 0, 0) && !chmod(program, 0755));
    r = run_program(program, "--child", "uses_kernels", NULL);
    CHECK_TEXT(r.output, "revamp [");
    remove_folder(folder);
}

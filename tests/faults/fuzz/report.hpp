// The record of what a program has done, and the report of a defect, which ends the run.
#pragma once
#include <revamp.h>

#include <cstdint>
#include <string>

namespace fuzz {

// Appends to the record of this thread's program. Actions are noted before they are done.
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);
// Begins a new line with the number of the step.
__attribute__((format(printf, 2, 3))) void note_step(int step, const char *format, ...);
// Begins a program with an empty record. The watchdog ends the run if the program takes longer than `seconds`.
void begin_program(uint64_t seed, unsigned seconds);
void end_program();

// Reports a defect and ends the process: prints the defect, the record and the seed, and writes them to the folder
// FUZZ_OUT.
__attribute__((format(printf, 1, 2), noreturn)) void found(const char *format, ...);

// From now on, signals and hangs are reported too.
void watch();

// The number of errors that the library has logged so far, and the text of the latest error. Only errors after
// log_to_report() count.
unsigned logged_errors();
std::string latest_log();
void log_to_report();

// Sets the command line that the reproducer names.
void set_command(const std::string &command);

} // namespace fuzz

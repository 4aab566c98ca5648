// What a program did so far, and how a run ends that found something.
#pragma once
#include <revamp.h>

#include <cstdint>
#include <string>

namespace fuzz {

// The text of this thread's program; what is done is noted before it is done.
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);
// A new line.
__attribute__((format(printf, 2, 3))) void note_step(int step, const char *format, ...);
// Begins a program: its text is empty. It may take so many seconds.
void begin_program(uint64_t seed, unsigned seconds);
void end_program();

// Something was found: prints it with the program and the seed, writes both into FUZZ_OUT, and ends the process.
__attribute__((format(printf, 1, 2), noreturn)) void found(const char *format, ...);

// Signals and hangs are told likewise.
void watch();

// What the library has logged as errors so far, and the latest text.
unsigned logged_errors();
std::string latest_log();
void log_to_report();

// The same command line, for the reproducer.
void set_command(const std::string &command);

} // namespace fuzz

// Checks the statuses of calls, and updates the model: the expected value of each word of each data source.
#include "program.hpp"

namespace fuzz {

std::atomic<uint64_t> Program::calls{0}, Program::refusals{0}, Program::failures{0};

// Checks a call that must succeed. Returns false if it failed because of an injected fault.
bool Program::good(revamp_status status, const char *what) {
    calls++;
    if (status == REVAMP_OK) return true;
    if (!fault_has_fired() || !is_fault_status(status))
        found("%s: %s: %s", what, revamp_status_name(status), revamp_last_error_message());
    failures++;
    note(" [%s]", revamp_last_error_message());
    return false;
}

// Checks a wait for a queue. If threads share objects, the wait may report that an asynchronous copy failed because
// another thread had released the view.
void Program::check_wait(revamp_status status, const char *what) {
    if (!settings.is_shared || status != REVAMP_ERROR_INVALID_HANDLE) good(status, what);
}

// Checks a call that must fail with a status of the set `expected`.
void Program::check_refused(revamp_status status, unsigned expected, const char *what) {
    calls++;
    refusals++;
    if (status < 0 && (expected & bit_of(status))) return;
    if (fault_has_fired() && status < 0 && is_fault_status(status)) return;
    found("%s: %s, expected to be refused (set %#x): %s", what, revamp_status_name(status), expected,
          status < 0 ? revamp_last_error_message() : "");
}

// Compares the words of box `b` with the model. `first`: the address of word 0 of the source.
void Program::check_words(const SourcePtr &s, const Box &b, const uint32_t *first, const char *what) {
    uint64_t words = b.words();
    for (uint64_t k = 0; k < words; k++) {
        uint64_t w = b.at(k);
        if (!s->words[w].allows(first[w]))
            found("%s: word %llu of %llu is %#x, expected %#x%s (%#x)", what, static_cast<unsigned long long>(w),
                  static_cast<unsigned long long>(s->words.size()), first[w], s->words[w].value,
                  s->words[w].state == Word::EITHER ? " or another" : "", s->words[w].other);
    }
}

void Program::forget(const SourcePtr &s, const Box &b) {
    for (uint64_t k = b.words(); k-- > 0;)
        s->words[b.at(k)] = {};
}

Words Program::words_of(const SourcePtr &s, const Box &b) const {
    Words all(b.words());
    for (uint64_t k = 0; k < all.size(); k++)
        all[k] = s->words[b.at(k)];
    return all;
}

void Program::put(const SourcePtr &s, const Box &b, const Words &now, bool is_certain) {
    for (uint64_t k = 0; k < now.size(); k++) {
        Word &w = s->words[b.at(k)];
        w = is_certain ? now[k] : w.or_(now[k]);
    }
}

} // namespace fuzz

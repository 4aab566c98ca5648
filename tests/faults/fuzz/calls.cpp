// What calls come to, and what the model makes of it.
#include "program.hpp"

namespace fuzz {

std::atomic<uint64_t> Program::calls{0}, Program::refusals{0}, Program::failures{0};

// A call that must succeed; false if it failed because of a fault.
bool Program::good(revamp_status status, const char *what) {
    calls++;
    if (status == REVAMP_OK) return true;
    if (!has_fired() || !is_of_fault(status))
        found("%s: %s: %s", what, revamp_status_name(status), revamp_last_error_message());
    failures++;
    note(" [%s]", revamp_last_error_message());
    return false;
}

// A wait for a queue: of an asynchronous copy that came when another thread released its view nobody else was told.
void Program::waited(revamp_status status, const char *what) {
    if (!settings.is_shared || status != REVAMP_ERROR_INVALID_HANDLE) good(status, what);
}

// A call that must fail with one of these.
void Program::refused(revamp_status status, unsigned expected, const char *what) {
    calls++;
    refusals++;
    if (status < 0 && (expected & as(status))) return;
    if (has_fired() && status < 0 && is_of_fault(status)) return;
    found("%s: %s, expected to be refused (set %#x): %s", what, revamp_status_name(status), expected,
          status < 0 ? revamp_last_error_message() : "");
}

// `first`: where word 0 of the source is.
void Program::read(const Bytes &s, const Box &b, const uint32_t *first, const char *what) {
    uint64_t words = b.words();
    for (uint64_t k = 0; k < words; k++) {
        uint64_t w = b.at(k);
        if (!s->words[w].allows(first[w]))
            found("%s: word %llu of %llu is %#x, expected %#x%s (%#x)", what, static_cast<unsigned long long>(w),
                  static_cast<unsigned long long>(s->words.size()), first[w], s->words[w].value,
                  s->words[w].state == Word::EITHER ? " or another" : "", s->words[w].other);
    }
}

void Program::forget(const Bytes &s, const Box &b) {
    for (uint64_t k = b.words(); k-- > 0;)
        s->words[b.at(k)] = {};
}

Words Program::words_of(const Bytes &s, const Box &b) const {
    Words all(b.words());
    for (uint64_t k = 0; k < all.size(); k++)
        all[k] = s->words[b.at(k)];
    return all;
}

void Program::put(const Bytes &s, const Box &b, const Words &now, bool is_certain) {
    for (uint64_t k = 0; k < now.size(); k++) {
        Word &w = s->words[b.at(k)];
        w = is_certain ? now[k] : w.or_(now[k]);
    }
}

} // namespace fuzz

// What the programs of this folder share: they print where a launch ran and how many bytes moved, next to what the post
// says, and count the contradictions. Nothing else in them is revamp's own.
#ifndef POSTS_REPORT_HPP
#define POSTS_REPORT_HPP

#include <amp.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace posts {

// Bytes that moved between the host and accelerators: `in` to an accelerator, `out` back.
struct bytes {
    std::uint64_t in, out;
};
constexpr bytes nothing = {0, 0};

// An accelerator_view and what the program calls it.
struct place {
    std::string name;
    concurrency::accelerator_view view;
};

inline place host() {
    return {"the host", concurrency::accelerator(concurrency::accelerator::cpu_accelerator).default_view};
}
inline place default_view() {
    return {"the default accelerator_view", concurrency::accelerator().default_view};
}
// Another accelerator_view of the default accelerator.
inline place second_view() {
    return {"the second accelerator_view", concurrency::accelerator().create_view()};
}

// Where the view's data is, as seen from `where`.
template <class T, int N>
revamp_residency residency(const concurrency::array_view<T, N> &view, const concurrency::accelerator_view &where) {
    revamp_residency found = {};
    found.struct_size = sizeof found;
    revamp::detail::check(revamp_array_view_get_residency(revamp::detail::view_access::handle(view),
                                                          revamp::detail::access::native(where), &found));
    return found;
}

// Whether the accelerator works in the program's memory, so that what the program and its kernels share does not move.
inline bool works_in_memory_of_program(const place &where) {
    std::vector<int> memory(1024);
    return residency(concurrency::array_view<const int>(memory), where.view).shares_home;
}

class report {
  public:
    // `places`: where launches of the program may run; the host and the default accelerator_view are always known.
    explicit report(const char *title, std::vector<place> places = {}) : m_places(std::move(places)) {
        m_places.insert(m_places.begin(), {host(), default_view()});
        bool shared = works_in_memory_of_program(m_places[1]);
        const std::wstring device = concurrency::accelerator().description;
        std::cout << title << "\non " << std::string(device.begin(), device.end())
                  << (shared ? ", in the program's memory" : ", with memory of its own") << "\n\n";
        for (std::size_t i = 2; i < m_places.size(); ++i)
            shared = shared || works_in_memory_of_program(m_places[i]);
        m_shared = shared;
        (void)moved();
    }

    // A launch that wrote all of `written`: where it ran, and what moved since the last step. `expected`: what revamp
    // moves in place of what the post says, where that differs by decision.
    template <class T, int N>
    void launch(const char *what, const place &by_post, const bytes &moved_by_post, const bytes &expected,
                const concurrency::array_view<T, N> &written) {
        const bytes here = moved();
        const std::string ran = where_valid(written);
        line(what, "runs on " + by_post.name + ", " + text(moved_by_post), "runs on " + ran + ", " + text(here),
             ran == by_post.name && agrees(here, expected));
    }
    template <class T, int N>
    void launch(const char *what, const place &by_post, const bytes &moved_by_post,
                const concurrency::array_view<T, N> &written) {
        launch(what, by_post, moved_by_post, moved_by_post, written);
    }
    // Anything else: what moved since the last step.
    void step(const char *what, const bytes &by_post) { step(what, by_post, by_post); }
    void step(const char *what, const bytes &by_post, const bytes &expected) {
        const bytes here = moved();
        line(what, text(by_post), text(here), agrees(here, expected));
    }
    // The same where the post promises no number: no more than that moved.
    void at_most(const char *what, const bytes &by_post) {
        const bytes here = moved();
        line(what, "at most " + text(by_post), text(here), here.in <= by_post.in && here.out <= by_post.out);
    }
    // Something that the post says and that holds here or not.
    void check(const char *by_post, bool holds) { line(nullptr, by_post, holds ? "so it is" : "it is not so", holds); }
    // Not judged.
    void note(const std::string &said) { std::cout << said << "\n"; }

    // For main() to return.
    int result() const {
        std::cout << (m_contradictions ? "\nThe post is contradicted.\n" : "\nAs the post says.\n");
        return m_contradictions ? 1 : 0;
    }

  private:
    std::vector<place> m_places;
    bool m_shared = false; // one of them works in the program's memory
    int m_contradictions = 0;
    bytes m_before = {0, 0};

    // Of the whole process, since it was asked last.
    bytes moved() {
        revamp_transfer_counters all = {};
        all.struct_size = sizeof all;
        revamp::detail::check(revamp_get_transfers(&all));
        const bytes now = {all.implicit_to_bytes + all.explicit_to_bytes,
                           all.implicit_from_bytes + all.explicit_from_bytes};
        const bytes before = std::exchange(m_before, now);
        return {now.in - before.in, now.out - before.out};
    }

    // The places at which all of the view is valid: the only one is where it was written.
    template <class T, int N> std::string where_valid(const concurrency::array_view<T, N> &view) const {
        std::string found;
        for (const place &one : m_places) {
            const revamp_residency at = residency(view, one.view);
            if (at.valid_bytes == at.view_bytes) found += (found.empty() ? "" : " and ") + one.name;
        }
        return found.empty() ? "an accelerator_view that the program does not know" : found;
    }

    // Where an accelerator works in the program's memory less moves than the post says.
    bool agrees(const bytes &here, const bytes &expected) const {
        if (m_shared) return here.in <= expected.in && here.out <= expected.out;
        return here.in == expected.in && here.out == expected.out;
    }

    static std::string text(const bytes &moved) {
        if (moved.in == 0 && moved.out == 0) return "no bytes";
        std::string said;
        if (moved.in) said = std::to_string(moved.in) + " bytes in";
        if (moved.out) said += (said.empty() ? "" : ", ") + std::to_string(moved.out) + " bytes out";
        return said;
    }

    void line(const char *what, const std::string &by_post, const std::string &here, bool good) {
        if (what) std::cout << what << "\n";
        std::cout << "    post: " << by_post << "\n    here: " << here << (good ? "" : "   CONTRADICTION") << "\n";
        if (!good) ++m_contradictions;
    }
};

} // namespace posts

#endif

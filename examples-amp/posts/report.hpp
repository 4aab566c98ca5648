// A report that all programs of this folder use. It prints where a launch ran and how many bytes moved, next to the
// post's statement, and counts contradictions. Only this header and 002_4_concurrent_access.cpp use revamp's own
// functions.
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
constexpr bytes no_bytes = {0, 0};

// An accelerator_view and its name in the report.
struct named_view {
    std::string name;
    concurrency::accelerator_view view;
};

inline named_view host() {
    return {"the host", concurrency::accelerator(concurrency::accelerator::cpu_accelerator).default_view};
}
inline named_view default_named_view() {
    return {"the default accelerator_view", concurrency::accelerator().default_view};
}
// Another accelerator_view of the default accelerator.
inline named_view second_view() {
    return {"the second accelerator_view", concurrency::accelerator().create_view()};
}

// Returns how much of the view's data is valid on `where`.
template <class T, int N>
revamp_residency residency(const concurrency::array_view<T, N> &view, const concurrency::accelerator_view &where) {
    revamp_residency found = {};
    found.struct_size = sizeof found;
    revamp::detail::check(revamp_array_view_get_residency(revamp::detail::view_access::handle(view),
                                                          revamp::detail::access::native(where), &found));
    return found;
}

// True if the accelerator works in the program's memory, so that shared data does not move.
inline bool works_in_memory_of_program(const named_view &where) {
    std::vector<int> memory(1024);
    return residency(concurrency::array_view<const int>(memory), where.view).shares_home;
}

class report {
  public:
    // `named_views` lists where launches of the program may run, besides the host and the default accelerator_view.
    explicit report(const char *title, std::vector<named_view> named_views = {})
        : m_named_views(std::move(named_views)) {
        m_named_views.insert(m_named_views.begin(), {host(), default_named_view()});
        bool works_in_program_memory = works_in_memory_of_program(m_named_views[1]);
        const std::wstring device = concurrency::accelerator().description;
        std::cout << title << "\non " << std::string(device.begin(), device.end())
                  << (works_in_program_memory ? ", in the program's memory" : ", with memory of its own") << "\n\n";
        for (std::size_t i = 2; i < m_named_views.size(); ++i)
            works_in_program_memory = works_in_program_memory || works_in_memory_of_program(m_named_views[i]);
        m_works_in_program_memory = works_in_program_memory;
        (void)moved();
    }

    // Reports where a launch that wrote all of `written` ran, and the bytes that moved since the last step. The post
    // states `stated` and `moved_by_post`. `expected` is what revamp moves, where revamp deliberately differs.
    template <class T, int N>
    void launch(const char *what, const named_view &stated, const bytes &moved_by_post, const bytes &expected,
                const concurrency::array_view<T, N> &written) {
        const bytes measured = moved();
        const std::string measured_place = where_valid(written);
        line(what, "runs on " + stated.name + ", " + text(moved_by_post),
             "runs on " + measured_place + ", " + text(measured),
             measured_place == stated.name && agrees(measured, expected));
    }
    template <class T, int N>
    void launch(const char *what, const named_view &stated, const bytes &moved_by_post,
                const concurrency::array_view<T, N> &written) {
        launch(what, stated, moved_by_post, moved_by_post, written);
    }
    // Reports any other step: the bytes that moved since the last step.
    void step(const char *what, const bytes &stated) { step(what, stated, stated); }
    void step(const char *what, const bytes &stated, const bytes &expected) {
        const bytes measured = moved();
        line(what, text(stated), text(measured), agrees(measured, expected));
    }
    // Reports a step for which the post promises only an upper limit.
    void at_most(const char *what, const bytes &stated) {
        const bytes measured = moved();
        line(what, "at most " + text(stated), text(measured), measured.in <= stated.in && measured.out <= stated.out);
    }
    // Reports whether a statement of the post holds.
    void check(const char *stated, bool holds) { line(nullptr, stated, holds ? "confirmed" : "not confirmed", holds); }
    // Prints text that is not checked.
    void note(const std::string &output) { std::cout << output << "\n"; }

    // The exit status for main().
    int result() const {
        std::cout << (m_contradictions ? "\nThe post is contradicted.\n" : "\nAs the post says.\n");
        return m_contradictions ? 1 : 0;
    }

  private:
    std::vector<named_view> m_named_views;
    bool m_works_in_program_memory = false; // an accelerator of m_places works in the program's memory
    int m_contradictions = 0;
    bytes m_before = {0, 0};

    // The bytes that moved in the whole process since the last call.
    bytes moved() {
        revamp_transfer_counters all = {};
        all.struct_size = sizeof all;
        revamp::detail::check(revamp_get_transfers(&all));
        const bytes now = {all.implicit_to_bytes + all.explicit_to_bytes,
                           all.implicit_from_bytes + all.explicit_from_bytes};
        const bytes before = std::exchange(m_before, now);
        return {now.in - before.in, now.out - before.out};
    }

    // The places at which all of the view is valid. After a launch wrote the view, this is where the launch ran.
    template <class T, int N> std::string where_valid(const concurrency::array_view<T, N> &view) const {
        std::string found;
        for (const named_view &candidate : m_named_views) {
            const revamp_residency at = residency(view, candidate.view);
            if (at.valid_bytes == at.view_bytes) found += (found.empty() ? "" : " and ") + candidate.name;
        }
        return found.empty() ? "an accelerator_view that the program does not know" : found;
    }

    // If an accelerator works in the program's memory, fewer bytes move than the post says.
    bool agrees(const bytes &measured, const bytes &expected) const {
        if (m_works_in_program_memory) return measured.in <= expected.in && measured.out <= expected.out;
        return measured.in == expected.in && measured.out == expected.out;
    }

    static std::string text(const bytes &moved) {
        if (moved.in == 0 && moved.out == 0) return "no bytes";
        std::string output;
        if (moved.in) output = std::to_string(moved.in) + " bytes in";
        if (moved.out) output += (output.empty() ? "" : ", ") + std::to_string(moved.out) + " bytes out";
        return output;
    }

    void line(const char *what, const std::string &stated, const std::string &measured, bool good) {
        if (what) std::cout << what << "\n";
        std::cout << "    post: " << stated << "\n    here: " << measured << (good ? "" : "   CONTRADICTION") << "\n";
        if (!good) ++m_contradictions;
    }
};

} // namespace posts

#endif

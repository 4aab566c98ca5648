// One random program: a sequence of calls over objects of its own, with a model of every byte and of what each call
// must come to. All choices come from the seed, those of each step from the seed and its number: steps can be left out.
#pragma once
#include "random.hpp"
#include "report.hpp"
#include "words.hpp"
#include "world.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fuzz {

// Sets of statuses.
constexpr unsigned as(revamp_status status) {
    return 1U << -status;
}
constexpr unsigned as_bad = as(REVAMP_ERROR_RUNTIME) | as(REVAMP_ERROR_INVALID_ARGUMENT);
constexpr unsigned as_handle = as(REVAMP_ERROR_INVALID_HANDLE);

struct Settings {
    int steps = 120;
    // Arms a fault at one of the steps.
    bool has_fault = false;
    // Other threads use the same queues, so that a wait may tell of what they did.
    bool is_shared = false;
    std::set<int> skip;
    std::set<std::string> without;
};

// For revamp_completion_then().
void on_done(revamp_status status, void *context);

class Program {
  public:
    // `queues`: accelerator_views that other programs use too.
    Program(const World &world, std::vector<Queue> queues, uint64_t seed, const Settings &settings);
    void run();
    // Calls made by all programs so far.
    static std::atomic<uint64_t> calls, refusals, failures;

  private:
    enum Home { OVER_HOST, OVER_ARRAY, WITHOUT_SOURCE };

    // An asynchronous call.
    struct Operation;
    using Under_way = std::shared_ptr<Operation>;

    // Bytes with a model: memory of the program, an array with all its views, or a view without a data source.
    struct Source {
        Home home = OVER_HOST;
        Box whole;
        Words words;
        unsigned views = 0;
        uint64_t id = 0;
        // OVER_HOST: the memory, between guards.
        std::vector<uint32_t> guarded;
        uint32_t *memory = nullptr;
        // It is the far side of asynchronous copies, to be waited for before it is touched.
        std::vector<Under_way> users;
        // OVER_ARRAY.
        revamp_array array = nullptr;
        int queue = 0;
        // Of a staging array.
        int associated = -1;
        revamp_access cpu_access = REVAMP_ACCESS_NONE;
        // Word 0 as the host was given it.
        uint32_t *base = nullptr;
    };
    using Bytes = std::shared_ptr<Source>;

    struct View {
        revamp_array_view handle = nullptr;
        Bytes of;
        Box box;
        bool read_only = false;
        unsigned owners = 1;
        const uint32_t *state = nullptr;
    };

    struct Operation {
        revamp_completion handle = nullptr;
        unsigned owners = 1;
        bool is_done = false;
        // Memory of the program that it uses, and whether it writes it.
        Bytes memory;
        bool writes_memory = false;
        bool is_marker = false;
        std::atomic<int> called{0};
        int callbacks = 0;
    };

    // One side of a copy.
    struct Side {
        Bytes of;
        Box box;
        View *view = nullptr;
        bool is_array = false;
    };
    struct Region {
        revamp_region c = {};
        int32_t origin[most_rank] = {}, extent[most_rank] = {};
        int64_t strides[most_rank] = {};
        revamp_array_view section = nullptr;
    };

    // Texels of words, on one queue.
    struct Texture {
        revamp_texture handle = nullptr;
        uint32_t rank = 0, element = 1, levels = 1;
        int32_t extent[most_rank] = {};
        int queue = 0;
        bool is_image = false;
        // The kernels with images take it.
        bool is_bound = false;
        Words words;
    };
    using Texels = std::shared_ptr<Texture>;
    // Levels of one, or a section of a level, and which of its words they are.
    struct Levels {
        revamp_texture_region c = {};
        int32_t origin[most_rank] = {}, extent[most_rank] = {};
        Box box;
    };

    struct Kind {
        const char *name;
        unsigned weight;
        void (Program::*run)();
    };
    static const std::vector<Kind> kinds;

    // calls.cpp: what calls come to.
    bool good(revamp_status status, const char *what);
    void waited(revamp_status status, const char *what);
    void refused(revamp_status status, unsigned expected, const char *what);
    void read(const Bytes &s, const Box &b, const uint32_t *first, const char *what);
    void forget(const Bytes &s, const Box &b);
    Words words_of(const Bytes &s, const Box &b) const;
    // What a call writes: `is_certain` if it came to nothing else.
    void put(const Bytes &s, const Box &b, const Words &now, bool is_certain);

    // objects.cpp
    Bytes some_source();
    View *some_view();
    View *some_writable();
    Box random_shape();
    void random_part(const Box &b, int32_t *origin, int32_t *extent);
    int some_queue(bool holds_arrays);
    Bytes new_array(const Box &shape);
    Bytes new_memory(const Box &shape);
    void add_view(revamp_array_view handle, const Bytes &of, const Box &b, bool read_only);
    void release_view(size_t n);
    bool is_home(const Source &s) const;
    void end_source(Bytes s, unsigned errors_before);
    void check_guards(const Source &s);
    void drop_view(size_t n);
    void make_array();
    void make_view();
    void derive_view();
    void shape_view();
    void retain_view();
    void step_release_view();
    void destroy_array();
    void ask();

    // host.cpp
    revamp_status get_access(const View &v, revamp_access access, void **data);
    void access();
    void use_state();
    void put_numbers(View &v, uint32_t *first, bool all);
    void array_data();
    void synchronize();
    void discard();
    void refresh();

    // kernels.cpp
    struct Captured {
        Bytes of;
        Box box;
        View *view = nullptr;
        Region region;
    };
    bool capture(Captured &c, bool writes, int queue);
    revamp_argument argument(Captured &c, uint32_t offset, revamp_access access);
    int queue_of(const Captured *all, size_t count, bool &is_named);
    void launch();
    void launch_binding();
    revamp_status send(int queue, bool is_named, const KernelBlock &block, const revamp_argument *arguments,
                       size_t count);
    Words after(const Captured &to, const KernelBlock &block, const Captured *from) const;
    void wait_for_queue();
    void change_queues();

    // copies.cpp
    Side some_side(bool writes);
    Side side_like(const Side &other, bool writes);
    bool make_region(const Side &s, Region &r);
    void end_region(Region &r);
    void copy();
    void copy_whole();
    void settle(const Bytes &memory);
    void begin_operation(revamp_completion handle, const Bytes &memory, bool writes_memory, bool is_marker = false);
    bool get(const Under_way &operation);
    void use_completion();
    void release_completion(const Under_way &operation);

    // textures.cpp
    Texels some_texture();
    Box level_of(const Texture &t, uint32_t level) const;
    void choose_levels(const Texture &t, Levels &l);
    Words words_in(const Texture &t, const Box &b) const;
    void put_texels(Texture &t, const Box &b, const Words &now, bool is_certain);
    void make_texture();
    void release_texture();
    void copy_texels();
    void copy_textures();
    void launch_image();
    void refuse_textures();
    void use_texture();

    // refused.cpp
    void refuse();
    void refuse_handles();
    void refuse_arrays();
    void refuse_views();
    void refuse_copies();
    void refuse_launches();
    void refuse_structs();

    void run_step(int number);
    void end();
    void arm_fault();

    const World &world;
    uint64_t seed;
    const Settings &settings;
    Random random;
    int current = 0;
    std::vector<Queue> queues;
    size_t shared_queues;
    // Calls of each function when the program began.
    uint64_t counted[FAULT_FUNCTION_COUNT] = {};
    std::vector<Bytes> sources;
    std::vector<std::unique_ptr<View>> views;
    std::vector<Under_way> operations;
    std::vector<Texels> textures;
    // Released, with callbacks that are to come.
    std::vector<Under_way> finished;
    // Handles that are no more.
    std::vector<revamp_array> dead_arrays;
    std::vector<revamp_array_view> dead_views;
    std::vector<revamp_texture> dead_textures;
    std::vector<revamp_completion> dead_completions;
    friend void on_done(revamp_status status, void *context);
};

} // namespace fuzz

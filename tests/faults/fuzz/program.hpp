// One random program: a sequence of calls on objects of the program. A model predicts every byte and the status of each
// call. The choices of a step depend only on the seed and the step's number, so steps can be left out.
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

// Sets of statuses, with one bit for each status.
constexpr unsigned bit_of(revamp_status status) {
    return 1U << -status;
}
constexpr unsigned bad_call_statuses = bit_of(REVAMP_ERROR_RUNTIME) | bit_of(REVAMP_ERROR_INVALID_ARGUMENT);
constexpr unsigned bad_handle_status = bit_of(REVAMP_ERROR_INVALID_HANDLE);

struct Settings {
    int steps = 120;
    // Arms a fault before one of the steps.
    bool has_fault = false;
    // Other threads use the same queues, so a wait may report failures of other threads.
    bool is_shared = false;
    // Numbers of steps, and names of kinds of steps, that are left out.
    std::set<int> skipped_steps;
    std::set<std::string> skipped_kinds;
};

// The callback for revamp_completion_then().
void on_done(revamp_status status, void *context);

class Program {
  public:
    // `queues`: accelerator_views that other programs use too.
    Program(const World &world, std::vector<Queue> queues, uint64_t seed, const Settings &settings);
    void run();
    // Counts of calls of all programs so far.
    static std::atomic<uint64_t> calls, refusals, failures;

  private:
    enum Home { OVER_HOST, OVER_ARRAY, WITHOUT_SOURCE };

    // An asynchronous call, or a marker.
    struct Operation;
    using OperationPtr = std::shared_ptr<Operation>;

    // A data source with its views and its model: memory of the program, an array, or a view without a data source.
    struct Source {
        Home home = OVER_HOST;
        Box whole;
        Words words;
        unsigned views = 0;
        uint64_t id = 0;
        // OVER_HOST: the memory, between guard words that no call may change.
        std::vector<uint32_t> guarded;
        uint32_t *memory = nullptr;
        // Asynchronous copies from or to the memory, which must end before the program touches it.
        std::vector<OperationPtr> users;
        // OVER_ARRAY: the array, or null after it is destroyed.
        revamp_array array = nullptr;
        int queue = 0;
        // The queue that a staging array is associated with, or -1.
        int associated = -1;
        revamp_access cpu_access = REVAMP_ACCESS_NONE;
        // The address that the host uses for word 0. It must not change.
        uint32_t *base = nullptr;
    };
    using SourcePtr = std::shared_ptr<Source>;

    struct View {
        revamp_array_view handle = nullptr;
        SourcePtr of;
        Box box;
        bool read_only = false;
        unsigned owners = 1;
        const uint32_t *state = nullptr;
    };

    struct Operation {
        revamp_completion handle = nullptr;
        unsigned owners = 1;
        bool is_done = false;
        // The host memory that the operation uses, and whether the operation writes this memory.
        SourcePtr memory;
        bool writes_memory = false;
        bool is_marker = false;
        std::atomic<int> called{0};
        int callbacks = 0;
    };

    // One side of a copy.
    struct Side {
        SourcePtr of;
        Box box;
        View *view = nullptr;
        bool is_array = false;
    };
    struct Region {
        revamp_region c = {};
        int32_t origin[max_rank] = {}, extent[max_rank] = {};
        int64_t strides[max_rank] = {};
        revamp_array_view section = nullptr;
    };

    // A texture on one queue. Its texels are whole words.
    struct Texture {
        revamp_texture handle = nullptr;
        uint32_t rank = 0, element = 1, levels = 1;
        int32_t extent[max_rank] = {};
        int queue = 0;
        bool is_image = false;
        // True if the kernels with images accept this texture.
        bool is_bindable = false;
        Words words;
    };
    using TexturePtr = std::shared_ptr<Texture>;
    // Whole levels of a texture, or a section of a level. `box` selects the words of these levels in Texture::words.
    struct Levels {
        revamp_texture_region c = {};
        int32_t origin[max_rank] = {}, extent[max_rank] = {};
        Box box;
    };

    struct Kind {
        const char *name;
        unsigned weight;
        void (Program::*run)();
    };
    static const std::vector<Kind> kinds;

    // calls.cpp: checks of calls, and updates of the model.
    bool good(revamp_status status, const char *what);
    void check_wait(revamp_status status, const char *what);
    void check_refused(revamp_status status, unsigned expected, const char *what);
    void check_words(const SourcePtr &s, const Box &b, const uint32_t *first, const char *what);
    void forget(const SourcePtr &s, const Box &b);
    Words words_of(const SourcePtr &s, const Box &b) const;
    // Updates the model after a call that writes `now`. Unless `is_certain`, each word may also keep its old value.
    void put(const SourcePtr &s, const Box &b, const Words &now, bool is_certain);

    // objects.cpp
    SourcePtr some_source();
    View *some_view();
    View *some_writable();
    Box random_shape();
    void random_part(const Box &b, int32_t *origin, int32_t *extent);
    int some_queue(bool holds_arrays);
    SourcePtr new_array(const Box &shape);
    SourcePtr new_memory(const Box &shape);
    void add_view(revamp_array_view handle, const SourcePtr &of, const Box &b, bool read_only);
    void release_view(size_t n);
    bool matches_model(const Source &s) const;
    void end_source(SourcePtr s, unsigned errors_before);
    void check_guards(const Source &s);
    void make_array();
    void make_view();
    void derive_view();
    void shape_view();
    void retain_view();
    void step_release_view();
    void destroy_array();
    void query_all();

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
        SourcePtr of;
        Box box;
        View *view = nullptr;
        Region region;
    };
    bool capture(Captured &c, bool writes, int queue);
    revamp_argument argument(Captured &c, uint32_t offset, revamp_access access);
    void launch();
    void launch_binding();
    revamp_status send(int queue, bool passes_queue, const KernelBlock &block, const revamp_argument *arguments,
                       size_t count);
    Words expected_words(const Captured &to, const KernelBlock &block, const Captured *from) const;
    void wait_for_queue();
    void change_queues();

    // copies.cpp
    Side some_side(bool writes);
    Side side_like(const Side &other, bool writes);
    bool make_region(const Side &s, Region &r);
    void end_region(Region &r);
    void copy();
    void copy_whole();
    void wait_for_users(const SourcePtr &memory);
    void begin_operation(revamp_completion handle, const SourcePtr &memory, bool writes_memory, bool is_marker = false);
    bool get(const OperationPtr &operation);
    void use_completion();
    void release_completion(const OperationPtr &operation);

    // textures.cpp
    TexturePtr some_texture();
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
    // The number of calls of each function before this program began.
    uint64_t initial_counts[FAULT_FUNCTION_COUNT] = {};
    std::vector<SourcePtr> sources;
    std::vector<std::unique_ptr<View>> views;
    std::vector<OperationPtr> operations;
    std::vector<TexturePtr> textures;
    // Released operations whose callbacks may not have been called yet.
    std::vector<OperationPtr> awaiting_callbacks;
    // Handles of released objects.
    std::vector<revamp_array> dead_arrays;
    std::vector<revamp_array_view> dead_views;
    std::vector<revamp_texture> dead_textures;
    std::vector<revamp_completion> dead_completions;
    friend void on_done(revamp_status status, void *context);
};

} // namespace fuzz

// Creates textures, copies them whole and in sections, passes them to kernels and releases them. The model of a texture
// is a list of words: the texels of one level after the other.
#include "program.hpp"

#include <cstring>

namespace fuzz {

constexpr size_t max_textures = 7;

namespace {

// Formats whose texels are whole words.
struct Format {
    uint32_t kind, components, bits;
    uint32_t words() const { return components * bits / 32; }
};
const Format formats[] = {{REVAMP_COMPONENT_UINT, 1, 32},  {REVAMP_COMPONENT_UINT, 1, 32},
                          {REVAMP_COMPONENT_INT, 2, 16},   {REVAMP_COMPONENT_UNORM, 4, 8},
                          {REVAMP_COMPONENT_FLOAT, 4, 16}, {REVAMP_COMPONENT_UINT, 3, 32},
                          {REVAMP_COMPONENT_FLOAT, 4, 32}, {REVAMP_COMPONENT_NORM, 2, 16}};

} // namespace

Program::TexturePtr Program::some_texture() {
    return textures.empty() ? nullptr : textures[random.below(textures.size())];
}

// The box of a level in the texture's words (Texture::words).
Box Program::level_of(const Texture &t, uint32_t level) const {
    uint64_t before = 0;
    for (uint32_t k = 0;; k++) {
        int32_t extent[max_rank] = {};
        for (uint32_t d = 0; d < t.rank; d++)
            extent[d] = t.extent[d] >> k > 0 ? t.extent[d] >> k : 1;
        Box b = Box::packed(t.rank, extent, t.element, before);
        if (k == level) return b;
        before += b.words();
    }
}

void Program::make_texture() {
    if (textures.size() >= max_textures) return release_texture();
    auto t = std::make_shared<Texture>();
    const Format &format = formats[random.below(sizeof formats / sizeof *formats)];
    t->rank = random.one_in(2) ? 2 : 1 + random.below(3);
    t->element = format.words();
    int32_t longest = 0;
    for (uint32_t d = 0; d < t->rank; d++) {
        t->extent[d] = random.from_to(1, t->rank == 3 ? 9 : t->rank == 2 ? 30 : 300);
        longest = t->extent[d] > longest ? t->extent[d] : longest;
    }
    t->queue = some_queue(true);
    const Queue &queue = queues[static_cast<size_t>(t->queue)];
    revamp_texture_options options = {};
    options.struct_size = sizeof options;
    options.rank = t->rank;
    options.extent = t->extent;
    options.component_kind = static_cast<revamp_component_kind>(format.kind);
    options.components = format.components;
    options.bits = format.bits;
    t->levels = 1;
    if (queue.accelerator_kind == CPU) {
        options.associated_view = queues[static_cast<size_t>(some_queue(false))].handle;
    } else if (random.one_in(3)) {
        while (longest >> t->levels && random.below(4))
            t->levels++;
    }
    options.levels = t->levels;
    t->is_image = queue.accelerator_kind == VULKAN && format.components != 3 && random.below(3);
    if (t->is_image) options.storage = REVAMP_TEXTURE_STORAGE_IMAGE;
    t->is_bindable = t->is_image && format.kind == REVAMP_COMPONENT_UINT && t->element == 1 && t->rank == 2;
    note_step(current, "texture of %u dimensions, %u words a texel, %u levels on queue %d%s", t->rank, t->element,
              t->levels, t->queue, t->is_image ? ", an image" : "");
    if (!good(revamp_texture_create(queue.handle, &options, &t->handle), "revamp_texture_create")) return;
    revamp_texture_info info = {};
    info.struct_size = sizeof info;
    if (good(revamp_texture_get_info(t->handle, &info), "revamp_texture_get_info")) {
        const Box last = level_of(*t, t->levels - 1);
        if (info.size != last.end() * 4 || info.levels != t->levels || info.texel_size != t->element * 4)
            found("revamp_texture_get_info does not match the texture");
        t->words.resize(last.end());
        textures.push_back(t);
        note(" %p", static_cast<void *>(t->handle));
    }
}

void Program::release_texture() {
    if (textures.empty()) return;
    size_t n = random.below(textures.size());
    note_step(current, "releases texture %p", static_cast<void *>(textures[n]->handle));
    if (revamp_texture_release(textures[n]->handle) != REVAMP_OK) found("a texture was not released");
    if (dead_textures.size() < 16) dead_textures.push_back(textures[n]->handle);
    textures.erase(textures.begin() + static_cast<std::ptrdiff_t>(n));
}

// Chooses whole levels, or a section of a level.
void Program::choose_levels(const Texture &t, Levels &l) {
    l.c = {};
    l.c.struct_size = sizeof l.c;
    l.c.texture = t.handle;
    l.c.level = random.below(t.levels);
    l.c.level_count = 1;
    const Box level = level_of(t, l.c.level);
    if (random.one_in(2)) {
        random_part(level, l.origin, l.extent);
        l.c.origin = l.origin;
        l.c.extent = l.extent;
        l.box = level.section(l.origin, l.extent);
        return;
    }
    l.c.level_count = 1 + random.below(t.levels - l.c.level);
    const Box last = level_of(t, l.c.level + l.c.level_count - 1);
    const auto words = static_cast<int32_t>(last.end() - level.offset);
    l.box = l.c.level_count == 1 ? level : Box::packed(1, &words, 1, level.offset);
}

Words Program::words_in(const Texture &t, const Box &b) const {
    Words all(b.words());
    for (uint64_t k = 0; k < all.size(); k++)
        all[k] = t.words[b.at(k)];
    return all;
}

void Program::put_texels(Texture &t, const Box &b, const Words &now, bool is_certain) {
    for (uint64_t k = 0; k < now.size(); k++) {
        Word &w = t.words[b.at(k)];
        w = is_certain ? now[k] : w.or_(now[k]);
    }
}

// Copies between memory and a texture. Starts either one synchronous or two asynchronous copies, then waits.
void Program::copy_texels() {
    TexturePtr t = some_texture();
    if (!t) return make_texture();
    const bool is_in = random.one_in(2), is_async = random.one_in(3);
    const size_t count = is_async ? 2 : 1;
    std::vector<uint32_t> memory[2];
    Levels levels[2];
    Words now[2];
    revamp_completion done[2] = {};
    bool is_started[2] = {};
    note_step(current, "copies %s texture %p%s:", is_in ? "to" : "from", static_cast<void *>(t->handle),
              is_async ? " asynchronously" : "");
    for (size_t n = 0; n < count; n++) {
        choose_levels(*t, levels[n]);
        const uint64_t words = levels[n].box.words();
        note(" %llu words of level %u", static_cast<unsigned long long>(words), levels[n].c.level);
        memory[n].assign(words + 1, 0xa5a5a5a5);
        auto value = static_cast<uint32_t>(random.next()) & 0x3b3f3b3f;
        for (uint64_t k = 0; is_in && k < words; k++)
            memory[n][k] = value ^ (static_cast<uint32_t>(k) & 0xff);
        now[n] = words_in(*t, levels[n].box);
        if (is_in)
            for (uint64_t k = 0; k < words; k++)
                now[n][k] = Word::of(memory[n][k]);
        uint32_t *m = memory[n].data();
        const size_t size = words * 4;
        revamp_status status;
        if (is_in)
            status = is_async ? revamp_copy_to_texture_async(m, size, &levels[n].c, nullptr, &done[n])
                              : revamp_copy_to_texture(m, size, &levels[n].c);
        else
            status = is_async ? revamp_copy_from_texture_async(&levels[n].c, m, size, nullptr, &done[n])
                              : revamp_copy_from_texture(&levels[n].c, m, size);
        is_started[n] = good(status, "a copy of texels");
    }
    for (size_t n = 0; n < count; n++) {
        bool is_done = is_started[n];
        if (done[n]) {
            is_done = good(revamp_completion_get(done[n]), "an asynchronous copy of texels");
            if (revamp_completion_release(done[n]) != REVAMP_OK) found("a completion was not released");
        }
        if (memory[n].back() != 0xa5a5a5a5) found("the library wrote memory after the texels");
        if (is_in)
            put_texels(*t, levels[n].box, now[n], is_done);
        else if (is_done)
            for (uint64_t k = 0; k < now[n].size(); k++)
                if (!now[n][k].allows(memory[n][k]))
                    found("texture %p: word %llu of %llu is %#x, expected %#x", static_cast<void *>(t->handle),
                          static_cast<unsigned long long>(levels[n].box.at(k)),
                          static_cast<unsigned long long>(t->words.size()), memory[n][k], now[n][k].value);
    }
}

// Copies a section of a texture to a section of another texture.
void Program::copy_textures() {
    TexturePtr from = some_texture(), to;
    for (int i = 0; i < 6 && from; i++) {
        to = some_texture();
        if (to != from && to->rank == from->rank && to->element == from->element) break;
        to = nullptr;
    }
    if (!to) return copy_texels();
    Levels a, b;
    a.c.struct_size = b.c.struct_size = sizeof a.c;
    a.c.texture = from->handle;
    b.c.texture = to->handle;
    a.c.level = random.below(from->levels);
    b.c.level = random.below(to->levels);
    const Box from_level = level_of(*from, a.c.level), to_level = level_of(*to, b.c.level);
    for (uint32_t d = 0; d < from_level.rank; d++) {
        const int32_t largest_extent =
            from_level.extent[d] < to_level.extent[d] ? from_level.extent[d] : to_level.extent[d];
        a.extent[d] = b.extent[d] = random.one_in(2) ? largest_extent : random.from_to(1, largest_extent);
        a.origin[d] = random.from_to(0, from_level.extent[d] - a.extent[d]);
        b.origin[d] = random.from_to(0, to_level.extent[d] - b.extent[d]);
    }
    a.c.level_count = b.c.level_count = 1;
    a.c.origin = a.origin;
    b.c.origin = b.origin;
    a.c.extent = a.extent;
    b.c.extent = b.extent;
    a.box = from_level.section(a.origin, a.extent);
    b.box = to_level.section(b.origin, b.extent);
    note_step(current, "copies %llu words of texture %p to %p", static_cast<unsigned long long>(a.box.words()),
              static_cast<void *>(from->handle), static_cast<void *>(to->handle));
    revamp_texture_info infos[2] = {};
    for (int n = 0; n < 2; n++) {
        infos[n].struct_size = sizeof *infos;
        if (!good(revamp_texture_get_info((n ? to : from)->handle, &infos[n]), "revamp_texture_get_info")) return;
    }
    const Words now = words_in(*from, a.box);
    const revamp_status status = revamp_copy_texture(&a.c, &b.c);
    if (infos[0].components != infos[1].components || infos[0].bits != infos[1].bits)
        check_refused(status, bad_call_statuses, "a copy between textures of different texels");
    else
        put_texels(*to, b.box, now, good(status, "a copy between textures"));
}

// Launches a kernel that replaces the value n of each texel of an image by 3 n + m (`weave`) or by 3 m + 1 (`texels`).
// m is the value at the same position of the other image.
void Program::launch_image() {
    std::vector<TexturePtr> all;
    for (const TexturePtr &t : textures)
        if (t->is_bindable) all.push_back(t);
    if (all.empty()) return make_texture();
    TexturePtr from = all[random.below(all.size())], to = all[random.below(all.size())];
    const uint32_t first = random.below(from->levels), level = random.below(to->levels);
    const bool linear = random.one_in(8), combined = random.one_in(3), uses_same_levels = from == to && first <= level;
    const Box source = level_of(*from, first), box = level_of(*to, level);
    revamp_sampler sampler = {};
    sampler.struct_size = sizeof sampler;
    sampler.filter = linear ? REVAMP_FILTER_LINEAR : REVAMP_FILTER_POINT;
    sampler.address = static_cast<revamp_address>(random.below(3));
    note_step(current, "kernel: level %u of texture %p %s level %u of %p%s", first, static_cast<void *>(from->handle),
              combined ? "replaces" : "is added to", level, static_cast<void *>(to->handle),
              linear ? ", filtered" : "");
    // The first argument passes all levels from `first` on; the kernel reads level `first`.
    const revamp_argument arguments[] = {
        revamp_argument_image(0, from->handle, first, 0, combined ? &sampler : nullptr),
        revamp_argument_image(combined ? 1 : 2, to->handle, level, 1, nullptr), revamp_argument_sampler(1, &sampler)};
    revamp_dispatch_info info = {};
    info.struct_size = sizeof info;
    info.rank = 2;
    info.extent = box.extent.data();
    info.arguments = arguments;
    info.argument_count = combined ? 2 : 3;
    const Words m = words_in(*from, source);
    Words now = words_in(*to, box);
    for (size_t k = 0; k < now.size(); k++) {
        const size_t row = k / static_cast<size_t>(box.extent[1]), column = k % static_cast<size_t>(box.extent[1]);
        const auto rows = static_cast<size_t>(source.extent[0]), columns = static_cast<size_t>(source.extent[1]);
        if (combined)
            now[k] = row < rows && column < columns ? m[row * columns + column].step(Word::of(1)) : Word::of(1);
        else
            now[k] = now[k].step(m[row % rows * columns + column % columns]);
    }
    // A released accelerator_view lives as long as its textures. If the accelerator_view is released, the launch passes
    // none, and the textures determine where the kernel runs.
    const Queue &on = queues[static_cast<size_t>(to->queue)];
    const revamp_status status =
        revamp_dispatch(on.is_released ? nullptr : on.handle, combined ? world.texels : world.weave, &info);
    if (linear || uses_same_levels || from->queue != to->queue)
        check_refused(status, bad_call_statuses | bit_of(REVAMP_ERROR_UNSUPPORTED_FEATURE),
                      "a launch that its textures do not allow");
    else if (good(status, "a launch with images"))
        put_texels(*to, box, now, true);
}

void Program::refuse_textures() {
    uint32_t words[4] = {};
    revamp_texture_region r = {};
    r.struct_size = sizeof r;
    note_step(current, "refused textures");
    if (!dead_textures.empty()) {
        r.texture = dead_textures[random.below(dead_textures.size())];
        check_refused(revamp_copy_from_texture(&r, words, sizeof words), bad_handle_status, "a released texture");
        check_refused(revamp_texture_release(r.texture), bad_handle_status, "a released texture");
    }
    TexturePtr t = some_texture();
    if (!t) return;
    r.texture = t->handle;
    r.level = t->levels;
    check_refused(revamp_copy_from_texture(&r, words, sizeof words), bad_call_statuses, "a missing level");
    r.level = 0;
    check_refused(revamp_copy_from_texture(&r, words, 3), bad_call_statuses, "too few bytes");
    int32_t origin[max_rank] = {}, extent[max_rank] = {1, 1, 1};
    origin[random.below(t->rank)] = random.one_in(2) ? -1 : t->extent[0] + 400;
    r.level_count = 1;
    r.origin = origin;
    r.extent = extent;
    check_refused(revamp_copy_to_texture(words, sizeof words, &r), bad_call_statuses,
                  "a section outside of the texture");
}

void Program::use_texture() {
    switch (random.below(14)) {
    case 0:
    case 1:
    case 2:
        return make_texture();
    case 3:
        return release_texture();
    case 4:
    case 5:
        return copy_textures();
    case 6:
        return refuse_textures();
    case 7:
    case 8:
    case 9:
    case 10:
        return world.has_vulkan() ? launch_image() : copy_texels();
    default:
        return copy_texels();
    }
}

} // namespace fuzz

/* The SPIR-V modules, embedded so that the test program needs no other files. */
#include "support.h"

#define MODULE(name) const module name##_module = {name##_words, sizeof name##_words}

static const uint32_t saxpy_words[] =
#include "saxpy.inc"
    ;
MODULE(saxpy);

static const uint32_t sets_words[] =
#include "sets.inc"
    ;
MODULE(sets);

static const uint32_t step_words[] =
#include "step.inc"
    ;
MODULE(step);

static const uint32_t fill_words[] =
#include "fill.inc"
    ;
MODULE(fill);

static const uint32_t coverage_words[] =
#include "coverage.inc"
    ;
MODULE(coverage);

static const uint32_t coverage_2d_words[] =
#include "coverage_2d.inc"
    ;
MODULE(coverage_2d);

static const uint32_t coverage_3d_words[] =
#include "coverage_3d.inc"
    ;
MODULE(coverage_3d);

static const uint32_t factor_words[] =
#include "factor.inc"
    ;
MODULE(factor);

static const uint32_t address_words[] =
#include "address.inc"
    ;
MODULE(address);

static const uint32_t pointer_words[] =
#include "pointer.inc"
    ;
MODULE(pointer);

static const uint32_t pair_words[] =
#include "pair.inc"
    ;
MODULE(pair);

static const uint32_t ends_words[] =
#include "ends.inc"
    ;
MODULE(ends);

static const uint32_t doubles_words[] =
#include "doubles.inc"
    ;
MODULE(doubles);

static const uint32_t image_words[] =
#include "image.inc"
    ;
MODULE(image);

static const uint32_t wide_words[] =
#include "wide.inc"
    ;
MODULE(wide);

static const uint32_t empty_words[] =
#include "empty.inc"
    ;
MODULE(empty);

static const uint32_t two_entries_words[] =
#include "two_entries.inc"
    ;
MODULE(two_entries);

static const uint32_t sizes_words[] =
#include "sizes.inc"
    ;
MODULE(sizes);

static const uint32_t view_words[] =
#include "view.inc"
    ;
MODULE(view);

static const uint32_t overlap_words[] =
#include "overlap.inc"
    ;
MODULE(overlap);

static const uint32_t box_words[] =
#include "box.inc"
    ;
MODULE(box);

static const uint32_t sample_words[] =
#include "sample.inc"
    ;
MODULE(sample);

static const uint32_t halve_words[] =
#include "halve.inc"
    ;
MODULE(halve);

static const uint32_t images_words[] =
#include "images.inc"
    ;
MODULE(images);

static const uint32_t codes_words[] =
#include "codes.inc"
    ;
MODULE(codes);

static const uint32_t limits_words[] =
#include "limits.inc"
    ;
MODULE(limits);

static const uint32_t nested_words[] =
#include "nested.inc"
    ;
MODULE(nested);

static const uint32_t bytes_words[] =
#include "bytes.inc"
    ;
MODULE(bytes);

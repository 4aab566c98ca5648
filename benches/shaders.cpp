// The SPIR-V kernels that the build compiles from shaders/ (shaders.h).
#include "shaders.h"

#define SHADER(name) static const uint32_t name##_words[] = // NAME.inc has the numbers that glslc -mfmt=num wrote

SHADER(empty){
#include "empty.inc"
};
SHADER(empty_four){
#include "empty_four.inc"
};
SHADER(increment){
#include "increment.inc"
};
SHADER(increment_four){
#include "increment_four.inc"
};
SHADER(increment_address){
#include "increment_address.inc"
};
SHADER(add_one){
#include "add_one.inc"
};
SHADER(saxpy){
#include "saxpy.inc"
};
SHADER(saxpy_address){
#include "saxpy_address.inc"
};
SHADER(copy){
#include "copy.inc"
};
SHADER(overlap){
#include "overlap.inc"
};
SHADER(fill_large){
#include "fill_large.inc"
};
SHADER(orbit){
#include "orbit.inc"
};
SHADER(compiled_saxpy){
#include "compiled_saxpy.inc"
};
SHADER(compiled_matmul){
#include "compiled_matmul.inc"
};
SHADER(compiled_tiled_matmul){
#include "compiled_tiled_matmul.inc"
};
SHADER(compiled_reduce){
#include "compiled_reduce.inc"
};
SHADER(compiled_reduce_last){
#include "compiled_reduce_last.inc"
};
SHADER(compiled_nbody){
#include "compiled_nbody.inc"
};
SHADER(compiled_stencil){
#include "compiled_stencil.inc"
};
SHADER(compiled_histogram){
#include "compiled_histogram.inc"
};
SHADER(texture_bilinear){
#include "texture_bilinear.inc"
};
SHADER(texture_convolve){
#include "texture_convolve.inc"
};

const Shader empty_shader{empty_words, sizeof empty_words};
const Shader empty_four_shader{empty_four_words, sizeof empty_four_words};
const Shader increment_shader{increment_words, sizeof increment_words};
const Shader increment_four_shader{increment_four_words, sizeof increment_four_words};
const Shader increment_address_shader{increment_address_words, sizeof increment_address_words};
const Shader add_one_shader{add_one_words, sizeof add_one_words};
const Shader saxpy_shader{saxpy_words, sizeof saxpy_words};
const Shader saxpy_address_shader{saxpy_address_words, sizeof saxpy_address_words};
const Shader copy_shader{copy_words, sizeof copy_words};
const Shader overlap_shader{overlap_words, sizeof overlap_words};
const Shader fill_large_shader{fill_large_words, sizeof fill_large_words};
const Shader orbit_shader{orbit_words, sizeof orbit_words};
const Shader compiled_saxpy_shader{compiled_saxpy_words, sizeof compiled_saxpy_words};
const Shader compiled_matmul_shader{compiled_matmul_words, sizeof compiled_matmul_words};
const Shader compiled_tiled_matmul_shader{compiled_tiled_matmul_words, sizeof compiled_tiled_matmul_words};
const Shader compiled_reduce_shader{compiled_reduce_words, sizeof compiled_reduce_words};
const Shader compiled_reduce_last_shader{compiled_reduce_last_words, sizeof compiled_reduce_last_words};
const Shader compiled_nbody_shader{compiled_nbody_words, sizeof compiled_nbody_words};
const Shader compiled_stencil_shader{compiled_stencil_words, sizeof compiled_stencil_words};
const Shader compiled_histogram_shader{compiled_histogram_words, sizeof compiled_histogram_words};
const Shader texture_bilinear_shader{texture_bilinear_words, sizeof texture_bilinear_words};
const Shader texture_convolve_shader{texture_convolve_words, sizeof texture_convolve_words};

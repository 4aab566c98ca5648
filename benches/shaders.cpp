#include "shaders.h"

#define SHADER(name) static const uint32_t name##_words[] = // numbers as glslc -mfmt=num writes them

SHADER(empty){
#include "empty.inc"
};
SHADER(increment){
#include "increment.inc"
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

const Shader empty_shader{empty_words, sizeof empty_words};
const Shader increment_shader{increment_words, sizeof increment_words};
const Shader increment_address_shader{increment_address_words, sizeof increment_address_words};
const Shader add_one_shader{add_one_words, sizeof add_one_words};
const Shader saxpy_shader{saxpy_words, sizeof saxpy_words};
const Shader saxpy_address_shader{saxpy_address_words, sizeof saxpy_address_words};
const Shader copy_shader{copy_words, sizeof copy_words};

# Writes a SPIR-V module as C source: cmake -DINPUT=x.spv -DOUTPUT=x.spv.c -DSYMBOL=x -P revampEmbed.cmake
# Run by the build that revamp_embed_spirv() sets up. Words, not bytes: SPIR-V must lie at a multiple of 4.
cmake_minimum_required(VERSION 3.21)
file(SIZE "${INPUT}" size)
math(EXPR rest "${size} % 4")
if(size LESS 20 OR NOT rest EQUAL 0)
    message(FATAL_ERROR "${INPUT} is no SPIR-V module: it has ${size} bytes; a module has at least 20, in words of 4.")
endif()
file(READ "${INPUT}" hex HEX)
if(NOT hex MATCHES "^03022307")
    message(FATAL_ERROR "${INPUT} is no SPIR-V module: it does not begin with the little-endian magic number 0x07230203.")
endif()
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${hex}")
file(WRITE "${OUTPUT}" "/* Made by revamp_embed_spirv() from ${INPUT}; do not edit. */
#include \"${SYMBOL}.spv.h\"

const uint32_t ${SYMBOL}_spv[] = {
${words}};
const size_t ${SYMBOL}_spv_size = sizeof ${SYMBOL}_spv;
")

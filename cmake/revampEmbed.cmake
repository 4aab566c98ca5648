# Writes a SPIR-V module as C source: cmake -DINPUT=x.spv -DOUTPUT=x.spv.c -DSYMBOL=x -P revampEmbed.cmake
# A build command of revamp_embed_spirv() runs this. The array has words, not bytes: SPIR-V must be aligned to 4 bytes.
cmake_minimum_required(VERSION 3.21)
file(SIZE "${INPUT}" size)
math(EXPR rest "${size} % 4")
if(size LESS 20 OR NOT rest EQUAL 0)
    message(FATAL_ERROR "${INPUT} is not a SPIR-V module: its size is ${size} bytes, but the size of a module is a multiple of 4, and at least 20.")
endif()
file(READ "${INPUT}" hex HEX)
if(NOT hex MATCHES "^03022307")
    message(FATAL_ERROR "${INPUT} is not a SPIR-V module: it does not begin with the little-endian magic number 0x07230203.")
endif()
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${hex}")
file(WRITE "${OUTPUT}" "/* Made by revamp_embed_spirv() from ${INPUT}; do not edit. */
#include \"${SYMBOL}.spv.h\"

const uint32_t ${SYMBOL}_spv[] = {
${words}};
const size_t ${SYMBOL}_spv_size = sizeof ${SYMBOL}_spv;
")

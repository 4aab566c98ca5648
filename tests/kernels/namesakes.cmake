# Builds the program `namesakes` and the libraries that it loads, namesake_NUMBER_VISIBILITY_LINK.so. All have kernels with the same names.

# LLD folds identical code (--icf=all). GCC looks for LLD under the name `ld.lld`.
find_program(LLD NAMES ld.lld-22 ld.lld REQUIRED)
set(folding "${CMAKE_CURRENT_BINARY_DIR}/folding")
file(MAKE_DIRECTORY "${folding}")
file(CREATE_LINK "${LLD}" "${folding}/ld.lld" SYMBOLIC)
set(link_plain "-Wl,-z,defs")
set(link_symbolic "-Wl,-Bsymbolic")
set(link_folded "-B${folding}" -fuse-ld=lld -Wl,--icf=all)

revamp_kernel_tests(namesakes namesakes.cpp)
target_link_libraries(namesakes PRIVATE ${CMAKE_DL_LIBS})
# The program exports its symbols, so they may preempt symbols of the same names in the libraries.
set_target_properties(namesakes PROPERTIES ENABLE_EXPORTS ON BUILD_RPATH "$ORIGIN")
revamp_add_kernels(namesakes)

foreach(visibility hidden default)
  foreach(number 1 2)
    set(objects namesake_${number}_${visibility})
    add_library(${objects} OBJECT namesake.cpp)
    target_compile_definitions(${objects} PRIVATE NUMBER=${number})
    target_link_libraries(${objects} PRIVATE revamp::amp)
    set_target_properties(${objects} PROPERTIES CXX_VISIBILITY_PRESET ${visibility} POSITION_INDEPENDENT_CODE ON)
    revamp_add_kernels(${objects})
    foreach(link plain symbolic folded)
      add_library(${objects}_${link} MODULE $<TARGET_OBJECTS:${objects}>)
      target_link_libraries(${objects}_${link} PRIVATE revamp::amp)
      target_link_options(${objects}_${link} PRIVATE ${link_${link}})
      set_target_properties(${objects}_${link} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX)
      add_dependencies(namesakes ${objects}_${link})
    endforeach()
  endforeach()
endforeach()

# Compiles device_names.cpp like the kernel compiler does, and checks the optimised code. The code may call only functions that the
# kernel compiler knows: the names in kernelc/src/device_abi.rs and some intrinsics of LLVM. All other functions must be inlined into
# the kernels. Kernels must have no allocas. Kernels named float_... must have no double. Contraction is allowed, as by default, but
# must not affect code that relies on the rounding of each operation. The headers must not leave macros REVAMP_MATH_... defined.
find_program(CLANG clang++-22)
find_program(OPT opt-22)
if(NOT CLANG OR NOT OPT)
  message("skipped: no clang++-22 and opt-22")
  return()
endif()
separate_arguments(INCLUDES)
set(compile "${CLANG}" -std=c++17 -x hip --offload-arch=amdgcnspirv --cuda-device-only -nogpuinc -nogpulib -Wall -Wextra
            -Werror -Xclang --hipstdpar -O2 -fno-vectorize -fno-slp-vectorize -ffp-contract=fast-honor-pragmas ${INCLUDES})
execute_process(COMMAND ${compile} -dM -E "${SOURCE}" OUTPUT_VARIABLE macros RESULT_VARIABLE status ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "device_names.cpp cannot be preprocessed:\n${text}")
endif()
string(REGEX MATCHALL "#define REVAMP_MATH_[A-Z0-9_]+" macros "${macros}")
list(REMOVE_ITEM macros "#define REVAMP_MATH_LAST_BIT")
if(macros)
  list(JOIN macros "\n" text)
  message(FATAL_ERROR "the headers leave macros of their own defined:\n${text}")
endif()
execute_process(
  COMMAND ${compile} -S -emit-llvm "${SOURCE}" -o "${WORK}.ll"
  RESULT_VARIABLE status ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "device_names.cpp does not compile:\n${text}")
endif()
execute_process(
  COMMAND
    "${OPT}" -S -vectorize-slp=false -vectorize-loops=false
    "-passes=internalize,globaldce,always-inline,default<O2>,infer-address-spaces,sroa,instcombine<no-verify-fixpoint>,simplifycfg,lower-switch,function(loop-simplify,lcssa,unify-loop-exits,fix-irreducible,structurizecfg),sroa,instsimplify,dce"
    "${WORK}.ll" -o "${WORK}.opt.ll"
  RESULT_VARIABLE status ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "opt fails:\n${text}")
endif()

set(errors)
file(READ "${TABLE}" table)
file(STRINGS "${WORK}.opt.ll" lines)
set(kernels 0)
set(kernel)
foreach(line IN LISTS lines)
  if(line MATCHES "^declare .*@([A-Za-z0-9_.]+)\\(")
    set(name "${CMAKE_MATCH_1}")
    if(name MATCHES "^__revamp_fast_[a-z0-9]+_f(32|64)$")
      if(NOT table MATCHES "\"${name}\"")
        list(APPEND errors "${name} is not in device_abi.rs")
      endif()
    elseif(NOT name MATCHES "^__revamp_(workgroup_auto|of_device)$" AND NOT name MATCHES
           "^llvm\\.(sqrt|fma|fmuladd|floor|ceil|trunc|rint|fabs|copysign|minnum|maxnum|ctlz|cttz|ctpop|fshl|fshr|smin|smax|umin|umax|abs|is\\.fpclass|assume|lifetime\\.(start|end)|experimental\\.noalias\\.scope\\.decl)(\\.|$)")
      list(APPEND errors "${name} is called, but the kernel compiler does not know it")
    endif()
  elseif(line MATCHES "^define (.*)@([A-Za-z0-9_.]+)\\(")
    set(kernel "${CMAKE_MATCH_2}")
    math(EXPR kernels "${kernels} + 1")
    if(NOT CMAKE_MATCH_1 MATCHES "_kernel")
      list(APPEND errors "${kernel} is not inlined")
    endif()
  elseif(line MATCHES "= alloca ")
    list(APPEND errors "${kernel} has an alloca: ${line}")
  elseif(kernel STREQUAL "float_precise_hypot" AND line MATCHES "= f(add|sub) [a-z ]*contract ")
    list(APPEND errors "${kernel} relies on rounding, but its operations may be contracted: ${line}")
  elseif(kernel MATCHES "^float_" AND line MATCHES "double")
    list(APPEND errors "${kernel} has a double: ${line}")
  endif()
endforeach()
# COUNT: 65 names of fast_math, 198 overloads of precise_math, and 3 kernels for the rest of the headers.
if(NOT kernels EQUAL COUNT)
  list(APPEND errors "${kernels} kernels instead of ${COUNT}")
endif()
if(errors)
  list(JOIN errors "\n" text)
  message(FATAL_ERROR "${text}")
endif()

# Compiles device_names.cpp the way the kernel compiler does and looks at what the optimiser leaves: calls of nothing but
# what the kernel compiler knows (the names of kernelc/src/device_abi.rs and some intrinsics of LLVM), everything in its
# kernel, no memory of the thread, and no double where the type is float. Contraction is allowed as by default, and must
# not reach what counts on the rounding of each operation.
find_program(CLANG clang++-22)
find_program(OPT opt-22)
if(NOT CLANG OR NOT OPT)
  message("skipped: no clang++-22 and opt-22")
  return()
endif()
separate_arguments(INCLUDES)
execute_process(
  COMMAND "${CLANG}" -std=c++17 -x hip --offload-arch=amdgcnspirv --cuda-device-only -nogpuinc -nogpulib -Wall -Wextra
          -Werror -Xclang --hipstdpar -O2 -fno-vectorize -fno-slp-vectorize -ffp-contract=fast-honor-pragmas ${INCLUDES} -S -emit-llvm
          "${SOURCE}" -o "${WORK}.ll"
  RESULT_VARIABLE status ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "it does not compile:\n${text}")
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

set(wrong)
file(READ "${TABLE}" table)
file(STRINGS "${WORK}.opt.ll" lines)
set(kernels 0)
set(kernel)
foreach(line IN LISTS lines)
  if(line MATCHES "^declare .*@([A-Za-z0-9_.]+)\\(")
    set(name "${CMAKE_MATCH_1}")
    if(name MATCHES "^__revamp_fast_[a-z0-9]+_f32$")
      if(NOT table MATCHES "\"${name}\"")
        list(APPEND wrong "${name} is not in device_abi.rs")
      endif()
    elseif(NOT name MATCHES "^__revamp_(workgroup_auto|of_device)$" AND NOT name MATCHES
           "^llvm\\.(sqrt|fma|fmuladd|floor|ceil|trunc|rint|fabs|copysign|minnum|maxnum|ctlz|cttz|ctpop|fshl|fshr|smin|smax|umin|umax|abs|is\\.fpclass|assume|lifetime\\.(start|end)|experimental\\.noalias\\.scope\\.decl)(\\.|$)")
      list(APPEND wrong "${name} is called")
    endif()
  elseif(line MATCHES "^define (.*)@([A-Za-z0-9_.]+)\\(")
    set(kernel "${CMAKE_MATCH_2}")
    math(EXPR kernels "${kernels} + 1")
    if(NOT CMAKE_MATCH_1 MATCHES "_kernel")
      list(APPEND wrong "${kernel} is not inlined")
    endif()
  elseif(line MATCHES "= alloca ")
    list(APPEND wrong "${kernel} has memory: ${line}")
  elseif(kernel STREQUAL "float_precise_hypot" AND line MATCHES "= f(add|sub) [a-z ]*contract ")
    list(APPEND wrong "what counts on rounding may be contracted: ${line}")
  elseif(kernel MATCHES "^float_" AND line MATCHES "double")
    list(APPEND wrong "${kernel} has a double: ${line}")
  endif()
endforeach()
# 65 names of fast_math, 198 overloads of precise_math, 3 kernels for the rest.
if(NOT kernels EQUAL COUNT)
  list(APPEND wrong "${kernels} kernels instead of ${COUNT}")
endif()
if(wrong)
  list(JOIN wrong "\n" text)
  message(FATAL_ERROR "${text}")
endif()

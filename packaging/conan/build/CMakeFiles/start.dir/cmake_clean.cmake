file(REMOVE_RECURSE
  "CMakeFiles/start.dir/main.cpp.o"
  "CMakeFiles/start.dir/main.cpp.o.d"
  "start"
  "start.pdb"
)

# Per-language clean rules from dependency scanning.
foreach(lang CXX)
  include(CMakeFiles/start.dir/cmake_clean_${lang}.cmake OPTIONAL)
endforeach()

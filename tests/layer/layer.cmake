# revamp_test_layer(NAME SOURCE DESCRIPTION) adds the target <NAME>_layer, which builds the Vulkan layer VK_LAYER_REVAMP_<NAME>. The Vulkan
# loader finds the layer by its manifest in the folder `layers` of the build.
find_path(VULKAN_HEADERS vulkan/vk_layer.h REQUIRED)
set(REVAMP_TEST_LAYER "${CMAKE_CURRENT_LIST_DIR}")
function(revamp_test_layer name source description)
  add_library(${name}_layer MODULE "${source}" "${REVAMP_TEST_LAYER}/layer.c")
  target_include_directories(${name}_layer PRIVATE "${REVAMP_TEST_LAYER}")
  target_include_directories(${name}_layer SYSTEM PRIVATE "${VULKAN_HEADERS}")
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/layers/${name}_layer.json" CONTENT "{
  \"file_format_version\": \"1.1.2\",
  \"layer\": {
    \"name\": \"VK_LAYER_REVAMP_${name}\",
    \"type\": \"GLOBAL\",
    \"library_path\": \"$<TARGET_FILE:${name}_layer>\",
    \"api_version\": \"1.3.0\",
    \"implementation_version\": \"1\",
    \"description\": \"${description}\"
  }
}
")
endfunction()

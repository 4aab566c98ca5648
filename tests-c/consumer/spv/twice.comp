#version 450
// The source of twice.spv: glslc -O --target-env=vulkan1.2 twice.comp -o twice.spv
layout(local_size_x = 16) in;
layout(binding = 0) buffer Data { uint data[]; };
void main() {
    data[gl_GlobalInvocationID.x] *= 2;
}

#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 4, local_size_y = 2, local_size_z = 2) in;
#include "coverage.glsl"

#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 4, local_size_y = 3) in;
#include "coverage.glsl"

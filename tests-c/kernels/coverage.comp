#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 8) in;
#include "coverage.glsl"

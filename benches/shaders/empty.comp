// Does nothing, so that a launch measures only its overhead.
#version 460
layout(local_size_x = 64) in;
void main() {}

// Does nothing: what is measured is the way there and back.
#version 460
layout(local_size_x = 64) in;
void main() {}

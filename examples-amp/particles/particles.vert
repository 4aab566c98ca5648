#version 450
// Draws a particle as one pixel. Its colour shows its speed.
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 velocity;
layout(location = 0) out vec3 color;
void main() {
    gl_Position = vec4(position, 0, 1);
    gl_PointSize = 1;
    float speed = clamp(length(velocity), 0, 1);
    color = mix(vec3(0.25, 0.35, 0.8), vec3(1, 0.6, 0.2), speed);
}

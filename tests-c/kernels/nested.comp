#version 450
// Runs code in up to 140 nested branches. The number in `data` determines how many branches a thread enters.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
#define ENTER(k) if (x > uint(k)) { a = a * 3u + uint(k); data[at] = a;
#define LEAVE }
#define ENTER_10(k) ENTER(k) ENTER(k + 1) ENTER(k + 2) ENTER(k + 3) ENTER(k + 4) ENTER(k + 5) ENTER(k + 6) ENTER(k + 7) ENTER(k + 8) ENTER(k + 9)
#define LEAVE_10 LEAVE LEAVE LEAVE LEAVE LEAVE LEAVE LEAVE LEAVE LEAVE LEAVE
void main() {
    uint at = gl_GlobalInvocationID.x;
    if (at >= data.length()) return;
    uint x = data[at], a = 0u;
    ENTER_10(0) ENTER_10(10) ENTER_10(20) ENTER_10(30) ENTER_10(40) ENTER_10(50) ENTER_10(60)
    ENTER_10(70) ENTER_10(80) ENTER_10(90) ENTER_10(100) ENTER_10(110) ENTER_10(120) ENTER_10(130)
    LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10
    LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10 LEAVE_10
}

#include <amp.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>

using namespace concurrency;

int main(int argc, char **argv) {
    const int width = 640, height = 480, max_steps = 1000;
    const float pixel = 0.005f;
    std::vector<int> steps(width * height);
    array_view<int, 2> picture(height, width, steps);
    picture.discard_data();

    parallel_for_each(
        picture.extent, [=](index<2> at) restrict(amp) {
            const float cx = -2.3f + pixel * float(at[1]), cy = 1.2f - pixel * float(at[0]);
            float x = 0, y = 0;
            int step = 0;
            while (step < max_steps && x * x + y * y < 4) {
                const float next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                step++;
            }
            picture[at] = step;
        });
    picture.synchronize();

    std::ofstream file(argc > 1 ? argv[1] : "mandelbrot.ppm", std::ios::binary);
    file << "P6 " << width << " " << height << " 255\n";
    for (int step : steps)
        for (int rate : {3, 8, 20})
            file.put(char(step < max_steps ? std::min(step * rate, 255) : 0));

    const float area = pixel * pixel * float(std::count(steps.begin(), steps.end(), max_steps));
    std::wcout << accelerator().description << L": the Mandelbrot set has an area of " << area << std::endl;
    return file && std::fabs(area - 1.51f) < 0.02f ? 0 : 1;
}

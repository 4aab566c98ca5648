// Draws the Mandelbrot set on several accelerators at the same time. Each accelerator computes some rows of the
// picture, and the host gathers the rows. On a machine with one accelerator, that accelerator computes all rows.
#include <amp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;

// Returns the number of steps until the point leaves the circle. Uses fixed-point numbers, so that all accelerators
// get the same result.
inline int escape(int x, int y, int size, int limit) restrict(amp, cpu) {
    const int one = 1 << 12;
    const int c_re = x * (3 * one) / size - 2 * one, c_im = y * (3 * one) / size - 3 * one / 2;
    int re = 0, im = 0;
    for (int step = 0; step < limit; step++) {
        const int re2 = re * re / one, im2 = im * im / one;
        if (re2 + im2 > 4 * one) return step;
        im = 2 * re * im / one + c_im;
        re = re2 - im2 + c_re;
    }
    return limit;
}

// True if the program's kernels run on `a`: GPUs do not run kernels that were compiled for the host alone.
bool runs_kernels(const accelerator &a) {
    if (a.device_path == accelerator::cpu_accelerator) return false;
    try {
        array<int, 1> one(1, a.default_view);
        parallel_for_each(
            a.default_view, one.extent, [&one](index<1> idx) restrict(amp) { one[idx] = 1; });
        a.default_view.wait();
        return true;
    } catch (const runtime_exception &) {
        return false;
    }
}

// The accelerators that share the work: accelerators that are not emulated or, without these, the emulated ones.
std::vector<accelerator> workers() {
    std::vector<accelerator> devices, emulated;
    for (const accelerator &a : accelerator::get_all())
        if (runs_kernels(a)) (a.is_emulated ? emulated : devices).push_back(a);
    return devices.empty() ? emulated : devices;
}

// The rows of the picture that one accelerator computes: `first` to `first + count - 1`.
class row_band {
  public:
    row_band(const accelerator &a, int first, int count, int size)
        : view_(a.create_view()), rows_(count, size, view_), first_(first) {}

    void start(int limit) {
        array<int, 2> &rows = rows_;
        const int first = first_, size = rows.extent[1];
        parallel_for_each(
            view_, rows.extent,
            [ =, &rows ](index<2> idx) restrict(amp) { rows[idx] = escape(idx[1], first + idx[0], size, limit); });
        view_.flush();
    }
    completion_future gather(std::vector<int> &picture) const {
        return copy_async(rows_, picture.begin() + std::ptrdiff_t(first_) * rows_.extent[1]);
    }

  private:
    accelerator_view view_;
    array<int, 2> rows_;
    int first_;
};

// Draws the picture on the accelerators `accelerators`; returns the time in milliseconds.
double draw(const std::vector<accelerator> &accelerators, int size, int limit, std::vector<int> &picture) {
    std::vector<row_band> row_bands;
    row_bands.reserve(accelerators.size());
    const int rows_each = size / static_cast<int>(accelerators.size());
    for (std::size_t i = 0; i < accelerators.size(); i++) {
        const int first = rows_each * static_cast<int>(i);
        row_bands.emplace_back(accelerators[i], first, i + 1 == accelerators.size() ? size - first : rows_each, size);
    }
    // A run that is not timed makes each accelerator load the kernel.
    for (row_band &p : row_bands)
        p.start(1);
    for (row_band &p : row_bands)
        p.gather(picture).get();

    const auto start = std::chrono::steady_clock::now();
    for (row_band &p : row_bands)
        p.start(limit);
    std::vector<completion_future> gathered;
    for (row_band &p : row_bands)
        gathered.push_back(p.gather(picture));
    for (completion_future &f : gathered)
        f.get();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char **argv) {
    const int size = argc > 1 ? std::atoi(argv[1]) : 600, limit = 200;
    const std::vector<accelerator> accelerators = workers();
    if (accelerators.empty() || size < static_cast<int>(accelerators.size()) || size > 16384) {
        std::wcerr << "usage: multi [ROWS, up to 16384]\n";
        return 2;
    }
    std::vector<int> alone(unsigned(size) * unsigned(size)), together(alone.size());
    const double one = draw(std::vector<accelerator>(1, accelerators.front()), size, limit, alone);
    std::wcout << accelerators.front().description << L": " << one << L" ms" << std::endl;
    if (accelerators.size() > 1) {
        const double all = draw(accelerators, size, limit, together);
        std::wcout << accelerators.size() << L" accelerators: " << all << L" ms, " << one / all << L" times as fast"
                   << std::endl;
    } else {
        together = alone;
    }

    bool right = alone == together;
    for (int y = 0; y < size; y += 7)
        for (int x = 0; x < size; x += 5)
            right &= alone[std::size_t(y) * unsigned(size) + unsigned(x)] == escape(x, y, size, limit);
    std::wcout << size << L"x" << size << L" points: " << (right ? L"right" : L"WRONG") << std::endl;
    return right ? 0 : 1;
}

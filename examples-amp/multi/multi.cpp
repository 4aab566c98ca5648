// A picture of the Mandelbrot set by several accelerators: each computes rows of its own, all at once, and the host
// gathers them. On a machine with one accelerator that one computes all rows.
#include <amp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace concurrency;

// Steps until the point leaves the circle; fixed point, so that all accelerators find the same.
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

// Whether the program's kernels run there: not on a GPU if they were compiled for the host alone.
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

// The accelerators to share the work: devices; where there are none, the emulated ones.
std::vector<accelerator> workers() {
    std::vector<accelerator> devices, emulated;
    for (const accelerator &a : accelerator::get_all())
        if (runs_kernels(a)) (a.is_emulated ? emulated : devices).push_back(a);
    return devices.empty() ? emulated : devices;
}

// Rows `first` to `first + count - 1` as one accelerator computes them.
class part {
  public:
    part(const accelerator &a, int first, int count, int size)
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

// The picture, by these accelerators; returns milliseconds.
double draw(const std::vector<accelerator> &by, int size, int limit, std::vector<int> &picture) {
    std::vector<part> parts;
    parts.reserve(by.size());
    const int share = size / static_cast<int>(by.size());
    for (std::size_t i = 0; i < by.size(); i++) {
        const int first = share * static_cast<int>(i);
        parts.emplace_back(by[i], first, i + 1 == by.size() ? size - first : share, size);
    }
    // Once untimed: each accelerator loads the kernel.
    for (part &p : parts)
        p.start(1);
    for (part &p : parts)
        p.gather(picture).get();

    const auto start = std::chrono::steady_clock::now();
    for (part &p : parts)
        p.start(limit);
    std::vector<completion_future> gathered;
    for (part &p : parts)
        gathered.push_back(p.gather(picture));
    for (completion_future &f : gathered)
        f.get();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char **argv) {
    const int size = argc > 1 ? std::atoi(argv[1]) : 600, limit = 200;
    const std::vector<accelerator> by = workers();
    if (size < static_cast<int>(by.size()) || size > 16384) {
        std::wcerr << "usage: multi [ROWS, up to 16384]\n";
        return 2;
    }
    std::vector<int> alone(unsigned(size) * unsigned(size)), together(alone.size());
    const double one = draw(std::vector<accelerator>(1, by.front()), size, limit, alone);
    std::wcout << by.front().description << L": " << one << L" ms" << std::endl;
    if (by.size() > 1) {
        const double all = draw(by, size, limit, together);
        std::wcout << by.size() << L" accelerators: " << all << L" ms, " << one / all << L" times as fast" << std::endl;
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

// Splits the rows of a matrix product among all accelerators: by sections of one view, by threads, and by work
// stealing.
#include "stdafx.h"
#include <algorithm>
#include <amp.h>
#include <atomic>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

using namespace concurrency;

const int N = 64, M = 48, W = 40;

struct TaskData {
    int id;
    accelerator_view view;
    int startRow;
    int rows;

    TaskData(accelerator a, int _id) : id(_id), view(a.default_view), startRow(0), rows(0) {}

    static std::vector<TaskData> Configure(const std::vector<accelerator> &accls, int rows) {
        std::vector<TaskData> tasks;
        int id = 0;
        std::for_each(accls.cbegin(), accls.cend(), [&](const accelerator &a) { tasks.push_back(TaskData(a, id++)); });
        int start = 0;
        for (auto &t : tasks) {
            t.startRow = start;
            t.rows = t.id + 1 == int(tasks.size()) ? rows - start : rows / int(tasks.size());
            start += t.rows;
        }
        return tasks;
    }
};

std::vector<accelerator> usable_accelerators() {
    std::vector<accelerator> accls = accelerator::get_all();
    accls.erase(std::remove_if(accls.begin(), accls.end(),
                               [](accelerator &a) { return a.is_emulated || a.supports_double_precision == false; }),
                accls.end());
    if (accls.empty()) {
        std::wcout << L"No hardware accelerators, the default does everything." << std::endl;
        accls.push_back(accelerator());
        accls.push_back(accelerator());
    }
    return accls;
}

void multiply_rows(accelerator_view view, array_view<const float, 2> a, array_view<const float, 2> b,
                   array_view<float, 2> c) {
    c.discard_data();
    parallel_for_each(
        view, c.extent, [=](index<2> idx) restrict(amp) {
            float sum = 0;
            for (int k = 0; k < b.extent[0]; ++k)
                sum += a(idx[0], k) * b(k, idx[1]);
            c[idx] = sum;
        });
}

int check(const char *name, const std::vector<float> &actual, const std::vector<float> &expected) {
    const bool ok = actual == expected;
    std::cout << name << ": " << (ok ? "ok" : "WRONG") << std::endl;
    return ok ? 0 : 1;
}

int main() {
    std::vector<float> a(N * M), b(M * W), expected(N * W);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = float(i % 13) - 6;
    for (size_t i = 0; i < b.size(); ++i)
        b[i] = float(i % 7) - 3;
    for (int y = 0; y < N; ++y)
        for (int x = 0; x < W; ++x)
            for (int k = 0; k < M; ++k)
                expected[y * W + x] += a[y * M + k] * b[k * W + x];

    const std::vector<accelerator> accls = usable_accelerators();
    std::vector<TaskData> tasks = TaskData::Configure(accls, N);
    int failed = 0;

    // One task after the other, each on sections of views of host memory
    std::vector<float> c(N * W);
    {
        array_view<const float, 2> av_a(N, M, a), av_b(M, W, b);
        array_view<float, 2> av_c(N, W, c);
        for (auto &t : tasks)
            multiply_rows(t.view, av_a.section(t.startRow, 0, t.rows, M), av_b,
                          av_c.section(index<2>(t.startRow, 0), extent<2>(t.rows, W)));
    }
    failed += check("sections", c, expected);

    // One thread for each task, with its own arrays
    std::vector<float> d(N * W);
    std::vector<std::thread> threads;
    for (auto &t : tasks) {
        threads.push_back(std::thread([&]() {
            array<float, 2> a_rows(t.rows, M, a.begin() + t.startRow * M, a.begin() + (t.startRow + t.rows) * M,
                                   t.view);
            array<float, 2> whole_b(M, W, b.begin(), b.end(), t.view);
            array<float, 2> result(t.rows, W, t.view);
            parallel_for_each(
                result.extent, [&a_rows, &whole_b, &result ](index<2> idx) restrict(amp) {
                    float sum = 0;
                    for (int k = 0; k < whole_b.extent[0]; ++k)
                        sum += a_rows(idx[0], k) * whole_b(k, idx[1]);
                    result[idx] = sum;
                });
            copy(result, d.begin() + t.startRow * W);
        }));
    }
    for (auto &t : threads)
        t.join();
    failed += check("threads", d, expected);

    // Work stealing: each thread repeatedly takes the next band of rows
    std::vector<float> e(N * W);
    std::atomic<int> next(0);
    const int band = 8;
    std::vector<int> band_counts(accls.size());
    threads.clear();
    for (size_t i = 0; i < accls.size(); ++i) {
        threads.push_back(std::thread([&, i]() {
            accelerator_view view = accls[i].create_view();
            for (int start = next.fetch_add(band); start < N; start = next.fetch_add(band)) {
                array_view<const float, 2> rows(band, M, &a[start * M]), whole_b(M, W, b);
                array_view<float, 2> result(band, W, &e[start * W]);
                multiply_rows(view, rows, whole_b, result);
                result.synchronize();
                ++band_counts[i];
            }
        }));
    }
    std::for_each(threads.begin(), threads.end(), [](std::thread &t) { t.join(); });
    failed += check("stealing", e, expected);
    for (size_t i = 0; i < accls.size(); ++i)
        std::wcout << accls[i].description << L": " << band_counts[i] << L" bands" << std::endl;
    return failed ? 1 : 0;
}

// The heat equation: a functor class, an explicit accelerator_view, two array_views that are swapped, a residual that
// atomics compute.
#include "stdafx.h"
#include <amp.h>
#include <amp_math.h>
#include <iostream>
#include <vector>

using namespace concurrency;

class heat_step {
    array_view<const float, 2> m_in;
    array_view<float, 2> m_out;
    array_view<unsigned int, 1> m_residual;
    float m_alpha;

  public:
    heat_step(const array_view<float, 2> &in, const array_view<float, 2> &out,
              const array_view<unsigned int, 1> &residual, float alpha)
        : m_in(in), m_out(out), m_residual(residual), m_alpha(alpha) {}

    void operator()(index<2> idx) const restrict(amp) {
        const int y = idx[0], x = idx[1];
        const extent<2> e = m_in.extent;
        if (y == 0 || x == 0 || y == e[0] - 1 || x == e[1] - 1) {
            m_out[idx] = m_in[idx];
            return;
        }
        const float c = m_in[idx];
        const float laplace = m_in(y - 1, x) + m_in(y + 1, x) + m_in(y, x - 1) + m_in(y, x + 1) - 4.0f * c;
        m_out[idx] = c + m_alpha * laplace;
        // The atomic works on integers, so the change is in millionths.
        const unsigned int change = static_cast<unsigned int>(fast_math::fabs(m_alpha * laplace) * 1e6f);
        atomic_fetch_max(&m_residual[0], change);
    }
};

int main() {
    const int height = 40, width = 50, max_steps = 200;
    std::vector<float> plate(height * width), scratch(height * width);
    for (int x = 0; x < width; ++x)
        plate[x] = scratch[x] = 100.0f;
    std::vector<float> expected(plate), next(plate);

    accelerator acc(accelerator::default_accelerator);
    accelerator_view view = acc.default_view;
    std::wcout << L"Simulating on " << view.accelerator.description
               << (view.accelerator.is_emulated ? L" (emulated)" : L"") << std::endl;

    int steps = 0;
    {
        array_view<float, 2> in(height, width, plate), out(height, width, scratch);
        std::vector<unsigned int> residual_memory(1);
        array_view<unsigned int, 1> residual(1, residual_memory);
        for (;;) {
            const bool is_checked = steps % 50 == 49;
            if (is_checked) residual[0] = 0;
            parallel_for_each(view, in.extent, heat_step(in, out, residual, 0.2f));
            std::swap(in, out);
            ++steps;
            if (is_checked) {
                const float r = residual[0] * 1e-6f;
                std::wcout << L"step " << steps << L": residual " << r << std::endl;
                if (r < 0.02f || steps >= max_steps) break;
            }
        }
        out.discard_data();
        in.copy_to(array_view<float, 2>(height, width, plate));
    }

    for (int s = 0; s < steps; ++s) {
        for (int y = 1; y < height - 1; ++y)
            for (int x = 1; x < width - 1; ++x) {
                const float *c = &expected[y * width + x];
                next[y * width + x] = *c + 0.2f * (c[-width] + c[width] + c[-1] + c[1] - 4.0f * *c);
            }
        expected.swap(next);
    }
    int wrong = 0;
    for (int i = 0; i < height * width; ++i)
        if (!(fabs(plate[i] - expected[i]) <= 1e-3f * 100.0f)) ++wrong;
    std::wcout << wrong << L" wrong cells after " << steps << L" steps" << std::endl;
    return wrong ? 1 : 0;
}

// The C++ AMP kernels of the texture benchmark.
#include "texture_work.h"

#include <amp.h>
#include <amp_graphics.h>

using namespace concurrency;
using namespace concurrency::graphics;

namespace {

class Work final : public TextureWork {
  public:
    Work(const accelerator_view &view, int n)
        : view_(view), from_(extent<2>(n, n), 8U, 1U, view), to_(extent<2>(n, n), 8U, 1U, view) {}
    void upload(const void *from) override {
        copy(from, from_.data_length, from_);
        view_.wait();
    }
    void download(void *to) override { copy(from_, to, from_.data_length); }
    void result(void *to) override { copy(to_, to, to_.data_length); }
    void run(TextureKernel kernel, unsigned launches) override {
        for (unsigned n = 0; n < launches; ++n)
            kernel == TextureKernel::bilinear ? bilinear() : convolve();
        view_.wait();
    }

  private:
    void bilinear() {
        const texture_view<const unorm_4, 2> from(from_);
        const texture_view<unorm_4, 2> to(to_);
        const float step = 1.0f / static_cast<float>(to.extent[1]);
        parallel_for_each(
            view_, to.extent, [=](index<2> i) restrict(amp) {
                to.set(i, from.sample(float_2((float(i[1]) + 0.8f) * step, (float(i[0]) + 0.7f) * step)));
            });
    }
    void convolve() {
        const texture_view<const unorm_4, 2> from(from_);
        const texture_view<unorm_4, 2> to(to_);
        parallel_for_each(
            view_, to.extent, [=](index<2> i) restrict(amp) {
                float_4 sum(0.0f);
                for (int y = -3; y <= 3; ++y)
                    for (int x = -3; x <= 3; ++x)
                        sum += float_4(from(i[0] + y, i[1] + x));
                sum *= 1.0f / 49.0f;
                to.set(i, unorm_4(sum.x, sum.y, sum.z, sum.w));
            });
    }

    accelerator_view view_;
    texture<unorm_4, 2> from_, to_;
};

} // namespace

std::unique_ptr<TextureWork> texture_work(const std::wstring &device_path, int n) {
    return std::make_unique<Work>(accelerator(device_path).default_view, n);
}

// The C++ AMP program that case_texture.cpp times: its kernels are compiled by the kernel compiler.
#pragma once
#include <memory>
#include <string>

enum class TextureKernel { bilinear, convolve };

// Two textures of n x n texels of four unorm components of 8 bits, on an accelerator.
class TextureWork {
  public:
    virtual ~TextureWork() = default;
    virtual void upload(const void *from) = 0;
    // What was uploaded, and what a kernel made.
    virtual void download(void *to) = 0;
    virtual void result(void *to) = 0;
    // So often; then waits.
    virtual void run(TextureKernel kernel, unsigned launches) = 0;
};
std::unique_ptr<TextureWork> texture_work(const std::wstring &device_path, int n);

// As one writes it for the processor.
void bilinear_openmp(const unsigned char *from, unsigned *to, int n);

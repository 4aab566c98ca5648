// The C++ AMP code that case_texture.cpp times. The kernel compiler compiles its kernels.
#pragma once
#include <memory>
#include <string>

enum class TextureKernel { bilinear, convolve };

// Two textures of n x n texels of four unorm components of 8 bits, on an accelerator.
class TextureWork {
  public:
    virtual ~TextureWork() = default;
    virtual void upload(const void *from) = 0;
    // `download` copies the uploaded texels back. `result` copies the texels that a kernel wrote.
    virtual void download(void *to) = 0;
    virtual void result(void *to) = 0;
    // Launches the kernel `launches` times, then waits.
    virtual void run(TextureKernel kernel, unsigned launches) = 0;
};
std::unique_ptr<TextureWork> texture_work(const std::wstring &device_path, int n);

// The bilinear kernel as a hand-written OpenMP loop.
void bilinear_openmp(const unsigned char *from, unsigned *to, int n);

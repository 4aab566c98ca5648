// The kernels of tile_kernels.h in OpenCL C (tiles.cl), on pocl. OpenCL is loaded at run time.
#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>

#include "tiles.h"

namespace tiles {
namespace {

const char source[] =
#include "tiles.cl"
    ;

typedef void *Handle;
// CL_DEVICE_TYPE_CPU, CL_MEM_READ_WRITE and CL_MEM_USE_HOST_PTR; CL_DEVICE_NAME and CL_PROGRAM_BUILD_LOG.
constexpr uint64_t is_cpu = 1 << 1, read_write = 1 << 0, use_host = 1 << 3;
constexpr uint32_t device_name = 0x102B, build_log = 0x1183;

// The functions of the OpenCL loader. Each member has the name of its function.
struct Functions {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    template <class F> F *function(const char *name) const {
        void *found = library ? dlsym(library, name) : nullptr;
        if (!found) throw std::runtime_error("no OpenCL (Debian: pocl-opencl-icd, ocl-icd-libopencl1)");
        return reinterpret_cast<F *>(found);
    }
#define TILES_CL(name, ...) int (*name)(__VA_ARGS__) = function<int(__VA_ARGS__)>(#name)
#define TILES_CL_MAKE(name, ...) Handle (*name)(__VA_ARGS__) = function<Handle(__VA_ARGS__)>(#name)
    TILES_CL(clGetPlatformIDs, uint32_t, Handle *, uint32_t *);
    TILES_CL(clGetDeviceIDs, Handle, uint64_t, uint32_t, Handle *, uint32_t *);
    TILES_CL(clGetDeviceInfo, Handle, uint32_t, size_t, void *, size_t *);
    TILES_CL_MAKE(clCreateContext, const intptr_t *, uint32_t, const Handle *, void *, void *, int *);
    TILES_CL_MAKE(clCreateCommandQueue, Handle, Handle, uint64_t, int *);
    TILES_CL_MAKE(clCreateProgramWithSource, Handle, uint32_t, const char **, const size_t *, int *);
    TILES_CL(clBuildProgram, Handle, uint32_t, const Handle *, const char *, void *, void *);
    TILES_CL(clGetProgramBuildInfo, Handle, Handle, uint32_t, size_t, void *, size_t *);
    TILES_CL_MAKE(clCreateKernel, Handle, const char *, int *);
    TILES_CL_MAKE(clCreateBuffer, Handle, uint64_t, size_t, void *, int *);
    TILES_CL(clSetKernelArg, Handle, uint32_t, size_t, const void *);
    TILES_CL(clEnqueueNDRangeKernel, Handle, Handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
             const Handle *, Handle *);
    TILES_CL(clFinish, Handle);
    TILES_CL(clReleaseMemObject, Handle);
#undef TILES_CL
#undef TILES_CL_MAKE
};

void check_cl(int status, const char *what) {
    if (status != 0) throw std::runtime_error(std::string(what) + ": OpenCL error " + std::to_string(status));
}

class HostOpenCl : public OpenCl {
  public:
    HostOpenCl() {
        Handle platforms[8];
        uint32_t count = 0;
        check_cl(cl.clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs");
        for (uint32_t p = 0; p < count && p < 8 && !device; p++)
            if (cl.clGetDeviceIDs(platforms[p], is_cpu, 1, &device, nullptr) != 0) device = nullptr;
        if (!device) throw std::runtime_error("no OpenCL device of the host's processor");
        char text[256] = "";
        cl.clGetDeviceInfo(device, device_name, sizeof text - 1, text, nullptr);
        name = text;
        int status = 0;
        context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
        check_cl(status, "clCreateContext");
        queue = cl.clCreateCommandQueue(context, device, 0, &status);
        check_cl(status, "clCreateCommandQueue");
        const char *source_text = source;
        program = cl.clCreateProgramWithSource(context, 1, &source_text, nullptr, &status);
        check_cl(status, "clCreateProgramWithSource");
        if (cl.clBuildProgram(program, 1, &device, "", nullptr, nullptr) != 0) {
            std::string log(1 << 16, 0);
            cl.clGetProgramBuildInfo(program, device, build_log, log.size() - 1, &log[0], nullptr);
            throw std::runtime_error("OpenCL: " + std::string(log.c_str()));
        }
    }

    Action make(Algorithm algorithm, Data &d) override {
        const int n = d.n, all = n * points;
        const size_t dim = size_t(n);
        switch (algorithm) {
        case Algorithm::matmul:
            return steps(step("matmul", {dim, dim}, {16, 16}, n, buffer(d.a), buffer(d.b), buffer(d.c)));
        case Algorithm::scan:
            return steps(step("scan", {dim, 1}, {256, 1}, buffer(d.a), buffer(d.c)));
        case Algorithm::reduction:
            return steps(step("reduction", {dim, 1}, {256, 1}, buffer(d.a), buffer(d.c)));
        case Algorithm::histogram: {
            const Buffer counts = buffer(d.k);
            return steps(step("zero", {bins, 1}, {bins, 1}, counts),
                         step("histogram", {dim / 64, 1}, {256, 1}, buffer(d.i), counts));
        }
        case Algorithm::convolution: {
            const auto between = std::make_shared<std::vector<float>>(dim * dim);
            const Buffer middle = buffer(*between), weights = buffer(d.b);
            const Action run = steps(step("convolve_rows", {dim, dim}, {256, 1}, n, buffer(d.a), weights, middle),
                                     step("convolve_columns", {dim, dim}, {16, 16}, n, middle, weights, buffer(d.c)));
            return [between, run] { run(); };
        }
        case Algorithm::transpose:
            return steps(step("transpose", {dim, dim}, {16, 16}, n, buffer(d.a), buffer(d.c)));
        case Algorithm::fft:
            return steps(
                step("fft", {size_t(all) / 2, 1}, {points / 2, 1}, all, buffer(d.a), buffer(d.b), buffer(d.c)));
        case Algorithm::bitonic:
            return steps(step("bitonic", {dim, 1}, {256, 1}, buffer(d.i), buffer(d.k)));
        case Algorithm::nbody:
            return steps(step("nbody", {dim, 1}, {256, 1}, n, buffer(d.a), buffer(d.c)));
        case Algorithm::lu:
            return lu(d);
        case Algorithm::needleman:
            return needleman(d);
        }
        return {};
    }

  private:
    typedef std::shared_ptr<void> Buffer;
    struct Size {
        size_t x, y;
    };
    // A launch of `kernel`, whose arguments are set already. `kept` keeps the buffers of the arguments alive.
    struct Step {
        Handle kernel;
        Size all, tile;
        std::vector<Buffer> kept;
    };

    template <class T> Buffer buffer(std::vector<T> &values) {
        int status = 0;
        const Handle made =
            cl.clCreateBuffer(context, read_write | use_host, values.size() * sizeof(T), values.data(), &status);
        check_cl(status, "clCreateBuffer");
        auto *release = cl.clReleaseMemObject;
        return Buffer(made, [release](void *m) { release(m); });
    }

    void argument(Step &s, uint32_t at, int value) const {
        check_cl(cl.clSetKernelArg(s.kernel, at, sizeof value, &value), "clSetKernelArg");
    }
    void argument(Step &s, uint32_t at, const Buffer &value) const {
        const Handle handle = value.get();
        check_cl(cl.clSetKernelArg(s.kernel, at, sizeof handle, &handle), "clSetKernelArg");
        s.kept.push_back(value);
    }

    template <class... Arguments> Step step(const char *name, Size all, Size tile, const Arguments &...arguments) {
        int status = 0;
        Step s{cl.clCreateKernel(program, name, &status), all, tile, {}};
        check_cl(status, name);
        uint32_t at = 0;
        (argument(s, at++, arguments), ...);
        return s;
    }

    void launch(const Step &s) const {
        check_cl(cl.clEnqueueNDRangeKernel(queue, s.kernel, s.all.y > 1 ? 2 : 1, nullptr, &s.all.x, &s.tile.x, 0,
                                           nullptr, nullptr),
                 "clEnqueueNDRangeKernel");
    }

    template <class... Steps> Action steps(const Steps &...given) {
        const std::vector<Step> all{given...};
        return [this, all] {
            for (const Step &s : all)
                launch(s);
            check_cl(cl.clFinish(queue), "clFinish");
        };
    }

    Action lu(Data &d) {
        const int n = d.n;
        const Buffer a = buffer(d.c);
        std::vector<Step> all{step("copied", {size_t(n) * size_t(n), 1}, {256, 1}, buffer(d.a), a)};
        for (int at = 0; at < n; at += 16) {
            const size_t blocks = size_t(n - at) / 16 - 1;
            all.push_back(step("lu_diagonal", {16, 1}, {16, 1}, n, at, a));
            if (blocks == 0) break;
            all.push_back(step("lu_perimeter", {32 * blocks, 1}, {32, 1}, n, at, a));
            all.push_back(step("lu_inside", {16 * blocks, 16 * blocks}, {16, 16}, n, at, a));
        }
        return [this, all] {
            for (const Step &s : all)
                launch(s);
            check_cl(cl.clFinish(queue), "clFinish");
        };
    }

    Action needleman(Data &d) {
        const int n = d.n, blocks = n / 16;
        const Buffer costs = buffer(d.i), table = buffer(d.k);
        std::vector<Step> all{step("borders", {size_t(n) + 1, 1}, {1, 1}, n, table)};
        for (int k = 0; k < 2 * blocks - 1; k++) {
            const int row = k < blocks ? k : blocks - 1, column = k - row;
            all.push_back(step("needleman", {16 * size_t(row - column + 1), 1}, {16, 1}, n, row, column, costs, table));
        }
        return [this, all] {
            for (const Step &s : all)
                launch(s);
            check_cl(cl.clFinish(queue), "clFinish");
        };
    }

    Functions cl;
    Handle device = nullptr, context = nullptr, queue = nullptr, program = nullptr;
};

} // namespace

std::unique_ptr<OpenCl> make_opencl() {
    return std::make_unique<HostOpenCl>();
}

} // namespace tiles

// The exchange and the heat equation as a plain program of MPI and CUDA has them: page-locked memory of the host,
// copies and packing kernels on streams, MPI_Isend and MPI_Irecv. plain_cuda exchange [MOST [ROUNDS]], plain_cuda heat
// ROWS WIDTH STEPS [CHECK]; the lines are those of exchange.cpp and heat.cpp.
#include "pattern.h"

#include <cuda_runtime.h>

#include <cmath>
#include <cstring>
#include <utility>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t status_ = (call);                                                                            \
        if (status_ != cudaSuccess) {                                                                                  \
            std::fprintf(stderr, "WRONG: %s: %s\n", #call, cudaGetErrorString(status_));                               \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

static int blocks_of(int count) {
    return (count + 255) / 256;
}

__global__ void fill_kernel(float *all, int count, int rank) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) all[i] = static_cast<float>(rank * 1000 + i % 997);
}
__global__ void fill_untouched_kernel(float *all, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) all[i] = -1.0f;
}
__global__ void pack_kernel(const float *all, float *packed, int count, int pitch, int at) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) packed[i] = all[static_cast<std::size_t>(i) * pitch + at];
}
__global__ void unpack_kernel(float *all, const float *packed, int count, int pitch, int at) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) all[static_cast<std::size_t>(i) * pitch + at] = packed[i];
}
__global__ void work_kernel(float *work, int count, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int n = 0; n < rounds; n++)
        sum = sum * 0.5f + static_cast<float>(i + n);
    work[i] = sum;
}

// Sends and receives what is in memory of the host.
static void swap_with(const float *mine, float *theirs, int count, int other) {
    MPI_Request both[2];
    MPI_Irecv(theirs, count, MPI_FLOAT, other, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(mine, count, MPI_FLOAT, other, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

struct buffers {
    int count;
    std::size_t all, bytes;
    float *from = nullptr, *to = nullptr, *send = nullptr, *receive = nullptr, *packed = nullptr, *arrived = nullptr;
    cudaStream_t stream = nullptr, beside = nullptr;

    explicit buffers(int of) : count(of), all(static_cast<std::size_t>(of) * column_pitch), bytes(of * sizeof(float)) {
        CUDA(cudaMalloc(&from, all * sizeof(float)));
        CUDA(cudaMalloc(&to, all * sizeof(float)));
        CUDA(cudaMalloc(&packed, bytes));
        CUDA(cudaMalloc(&arrived, bytes));
        CUDA(cudaHostAlloc(&send, bytes, cudaHostAllocMapped));
        CUDA(cudaHostAlloc(&receive, bytes, cudaHostAllocMapped));
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    }
    ~buffers() {
        for (float *memory : {from, to, packed, arrived})
            CUDA(cudaFree(memory));
        for (float *memory : {send, receive})
            CUDA(cudaFreeHost(memory));
        CUDA(cudaStreamDestroy(stream));
        CUDA(cudaStreamDestroy(beside));
    }
    void wait() const { CUDA(cudaStreamSynchronize(stream)); }

    void pack_row() const {
        CUDA(cudaMemcpyAsync(send, from, bytes, cudaMemcpyDeviceToHost, stream));
        wait();
    }
    void unpack_row() const {
        CUDA(cudaMemcpyAsync(to, receive, bytes, cudaMemcpyHostToDevice, stream));
        wait();
    }
    // Columns in three ways: copies of two dimensions; a kernel and a copy; a kernel over the bus. The best counts.
    void pack_column(int way) const {
        const std::size_t pitch = column_pitch * sizeof(float);
        if (way == 0)
            CUDA(cudaMemcpy2DAsync(send, sizeof(float), from + column_at, pitch, sizeof(float), count,
                                   cudaMemcpyDeviceToHost, stream));
        else
            pack_kernel<<<blocks_of(count), 256, 0, stream>>>(from, way == 1 ? packed : send, count, column_pitch,
                                                              column_at);
        if (way == 1) CUDA(cudaMemcpyAsync(send, packed, bytes, cudaMemcpyDeviceToHost, stream));
        wait();
    }
    void unpack_column(int way) const {
        const std::size_t pitch = column_pitch * sizeof(float);
        if (way == 1) CUDA(cudaMemcpyAsync(arrived, receive, bytes, cudaMemcpyHostToDevice, stream));
        if (way == 0)
            CUDA(cudaMemcpy2DAsync(to + column_at, pitch, receive, sizeof(float), sizeof(float), count,
                                   cudaMemcpyHostToDevice, stream));
        else
            unpack_kernel<<<blocks_of(count), 256, 0, stream>>>(to, way == 1 ? arrived : receive, count, column_pitch,
                                                                column_at);
        wait();
    }
    void start(int rank) const {
        fill_kernel<<<blocks_of(static_cast<int>(all)), 256, 0, stream>>>(from, static_cast<int>(all), rank);
        wait();
    }
    void clear() const {
        fill_untouched_kernel<<<blocks_of(static_cast<int>(all)), 256, 0, stream>>>(to, static_cast<int>(all));
        wait();
    }
    std::vector<float> read() const {
        std::vector<float> values(all);
        CUDA(cudaMemcpy(values.data(), to, all * sizeof(float), cudaMemcpyDeviceToHost));
        return values;
    }
};

static void measure(int rank, int size, int count, int rounds) {
    const int other = neighbour(rank, size), times = times_of(count);
    const buffers b(count);
    b.start(rank);
    const auto say = [&](const char *what, double time) { report("cuda", rank, size, what, count, time); };
    const auto rows = [&] {
        b.pack_row();
        swap_with(b.send, b.receive, count, other);
        b.unpack_row();
    };
    b.clear();
    rows();
    check_elements(b.read(), count, 1, 0, other, "a row");
    say("row", median_of(times, rows));
    say("pack_row", median_of(times, [&] { b.pack_row(); }));
    say("unpack_row", median_of(times, [&] { b.unpack_row(); }));
    // Copies of two dimensions take far longer than the others here, and a message for each element.
    for (int way = count > 1 << 16 ? 1 : 0; way < 3; way++) {
        const auto columns = [&] {
            b.pack_column(way);
            swap_with(b.send, b.receive, count, other);
            b.unpack_column(way);
        };
        b.clear();
        columns();
        check_elements(b.read(), count, column_pitch, column_at, other, "a column");
        say("column", median_of(times, columns));
        say("pack_column", median_of(times, [&] { b.pack_column(way); }));
        say("unpack_column", median_of(times, [&] { b.unpack_column(way); }));
    }
    std::vector<float> mine(static_cast<std::size_t>(count)), theirs(mine.size());
    say("mpi_alone", median_of(times, [&] {
            MPI_Sendrecv(mine.data(), count, MPI_FLOAT, other, 1, theirs.data(), count, MPI_FLOAT, other, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }));
    const int worked = 1 << 20;
    float *work = nullptr;
    CUDA(cudaMalloc(&work, worked * sizeof(float)));
    const auto kernel = [&] { work_kernel<<<blocks_of(worked), 256, 0, b.beside>>>(work, worked, rounds); };
    kernel();
    CUDA(cudaStreamSynchronize(b.beside));
    const int few = std::min(times, 20);
    say("kernel", median_of(few, [&] {
            kernel();
            CUDA(cudaStreamSynchronize(b.beside));
        }));
    say("kernel_and_row", median_of(few, [&] {
            CUDA(cudaMemcpyAsync(b.send, b.from, b.bytes, cudaMemcpyDeviceToHost, b.stream));
            kernel();
            b.wait();
            swap_with(b.send, b.receive, count, other);
            b.unpack_row();
            CUDA(cudaStreamSynchronize(b.beside));
        }));
    CUDA(cudaFree(work));
}

// As `step` of examples-mpi/heat/heat.cpp; `from` has a row more on each side.
__global__ void heat_kernel(const float *from, float *to, int rows, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= rows) return;
    const std::size_t at = static_cast<std::size_t>(y + 1) * width + x;
    const float here = from[at];
    const float left = x > 0 ? from[at - 1] : here, right = x + 1 < width ? from[at + 1] : here;
    to[static_cast<std::size_t>(y) * width + x] =
        here + 0.2f * (from[at - width] + from[at + width] + left + right - 4.0f * here);
}
static float at_start(int y, int x, int rows) {
    if (y < 0) return 100.0f;
    if (y >= rows) return 0.0f;
    return static_cast<float>((y * 31 + x * 17) % 50);
}

// Rows `first` to `first + count - 1` of a plate of `rows`; the time of a step in microseconds.
static std::vector<float> spread(bool alone, int first, int count, int rows, int width, int steps, double *time) {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int up = !alone && rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int down = !alone && rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    std::vector<float> start;
    for (int y = first - 1; y <= first + count; y++)
        for (int x = 0; x < width; x++)
            start.push_back(at_start(y, x, rows));
    const std::size_t row = static_cast<std::size_t>(width), line = row * sizeof(float);
    float *now = nullptr, *next = nullptr, *halo = nullptr;
    CUDA(cudaMalloc(&now, start.size() * sizeof(float)));
    CUDA(cudaMalloc(&next, start.size() * sizeof(float)));
    CUDA(cudaHostAlloc(&halo, 4 * line, cudaHostAllocDefault));
    CUDA(cudaMemcpy(now, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(next, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice));
    cudaStream_t kernels = nullptr, copies = nullptr;
    CUDA(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    cudaEvent_t stepped = nullptr, arrived = nullptr;
    CUDA(cudaEventCreateWithFlags(&stepped, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    const auto rows_of = [&](const float *from, float *to, int many) {
        const dim3 block(64, 4), grid((width + 63) / 64, (many + 3) / 4);
        heat_kernel<<<grid, block, 0, kernels>>>(from, to, many, width);
    };
    float *sent_up = halo, *sent_down = halo + row, *from_up = halo + 2 * row, *from_down = halo + 3 * row;
    CUDA(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begun = std::chrono::steady_clock::now();
    for (int n = 0; n < steps; n++) {
        MPI_Request all[4];
        MPI_Irecv(from_up, width, MPI_FLOAT, up, 1, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(from_down, width, MPI_FLOAT, down, 0, MPI_COMM_WORLD, &all[1]);
        // The edges go first; the middle is computed meanwhile.
        CUDA(cudaEventRecord(stepped, kernels));
        CUDA(cudaStreamWaitEvent(copies, stepped, 0));
        if (up != MPI_PROC_NULL) CUDA(cudaMemcpyAsync(sent_up, now + row, line, cudaMemcpyDeviceToHost, copies));
        if (down != MPI_PROC_NULL)
            CUDA(cudaMemcpyAsync(sent_down, now + count * row, line, cudaMemcpyDeviceToHost, copies));
        if (count > 2) rows_of(now + row, next + 2 * row, count - 2);
        CUDA(cudaStreamSynchronize(copies));
        MPI_Isend(sent_up, width, MPI_FLOAT, up, 0, MPI_COMM_WORLD, &all[2]);
        MPI_Isend(sent_down, width, MPI_FLOAT, down, 1, MPI_COMM_WORLD, &all[3]);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        if (up != MPI_PROC_NULL) CUDA(cudaMemcpyAsync(now, from_up, line, cudaMemcpyHostToDevice, copies));
        if (down != MPI_PROC_NULL)
            CUDA(cudaMemcpyAsync(now + (count + 1) * row, from_down, line, cudaMemcpyHostToDevice, copies));
        CUDA(cudaEventRecord(arrived, copies));
        CUDA(cudaStreamWaitEvent(kernels, arrived, 0));
        rows_of(now, next + row, 1);
        if (count > 1) rows_of(now + (count - 1) * row, next + count * row, 1);
        // The page-locked lines are written again in the next step.
        CUDA(cudaStreamSynchronize(copies));
        std::swap(now, next);
    }
    CUDA(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
    *time = took.count() / steps;
    std::vector<float> result(count * row);
    CUDA(cudaMemcpy(result.data(), now + row, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float *memory : {now, next})
        CUDA(cudaFree(memory));
    CUDA(cudaFreeHost(halo));
    CUDA(cudaEventDestroy(stepped));
    CUDA(cudaEventDestroy(arrived));
    CUDA(cudaStreamDestroy(kernels));
    CUDA(cudaStreamDestroy(copies));
    return result;
}

static int heat(int rank, int size, int rows_each, int width, int steps, bool check) {
    const int rows = rows_each * size;
    double time = 0, slowest = 0, worst = 0;
    (void)spread(false, rank * rows_each, rows_each, rows, width, 2, &time);
    const std::vector<float> mine = spread(false, rank * rows_each, rows_each, rows, width, steps, &time);
    MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (check) {
        // Each rank computes the whole plate alone and compares what is its own.
        const std::vector<float> alone = spread(true, 0, rows, rows, width, steps, &time);
        const std::size_t first = static_cast<std::size_t>(rank) * rows_each * width;
        for (std::size_t i = 0; i < mine.size(); i++)
            worst = std::fmax(worst, std::fabs(static_cast<double>(mine[i]) - static_cast<double>(alone[first + i])));
    }
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d ranks, CUDA: a plate of %dx%d, %.2f microseconds a step, %s\n", size, rows, width, slowest,
                    !check         ? "not checked"
                    : worst < 1e-3 ? "right"
                                   : "WRONG");
    return worst < 1e-3 ? 0 : 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1, on_node = 0, devices = 0, code = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
    CUDA(cudaGetDeviceCount(&devices));
    CUDA(cudaSetDevice(on_node % devices));
    if (argc > 4 && std::strcmp(argv[1], "heat") == 0) {
        code = heat(rank, size, std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
                    argc <= 5 || std::atoi(argv[5]) != 0);
    } else {
        const int most = argc > 2 ? std::atoi(argv[2]) : 1 << 30, rounds = argc > 3 ? std::atoi(argv[3]) : 2000;
        for (int count : message_counts)
            if (count <= most) measure(rank, size, count, rounds);
        double one = 1;
        const double reduction =
            median_of(100, [&] { MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); });
        report("cuda", rank, size, "all_reduce", 2, reduction);
    }
    MPI_Finalize();
    return code;
}

// The peer of exchange.cpp and examples-mpi/heat/heat.cpp, as a plain MPI and CUDA program. It uses page-locked host
// memory, copies and packing kernels on streams, MPI_Isend and MPI_Irecv. It prints the same lines as exchange.cpp and
// heat.cpp. usage: plain_cuda exchange [MAX_COUNT [KERNEL_ITERATIONS]], or plain_cuda heat ROWS WIDTH STEPS [CHECK]
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
__global__ void work_kernel(float *work, int count, int kernel_iterations) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int n = 0; n < kernel_iterations; n++)
        sum = sum * 0.5f + static_cast<float>(i + n);
    work[i] = sum;
}

// Sends `mine` and receives `theirs`, both in host memory.
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
    cudaStream_t stream = nullptr, kernel_stream = nullptr;

    explicit buffers(int of) : count(of), all(static_cast<std::size_t>(of) * column_pitch), bytes(of * sizeof(float)) {
        CUDA(cudaMalloc(&from, all * sizeof(float)));
        CUDA(cudaMalloc(&to, all * sizeof(float)));
        CUDA(cudaMalloc(&packed, bytes));
        CUDA(cudaMalloc(&arrived, bytes));
        CUDA(cudaHostAlloc(&send, bytes, cudaHostAllocMapped));
        CUDA(cudaHostAlloc(&receive, bytes, cudaHostAllocMapped));
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA(cudaStreamCreateWithFlags(&kernel_stream, cudaStreamNonBlocking));
    }
    ~buffers() {
        for (float *memory : {from, to, packed, arrived})
            CUDA(cudaFree(memory));
        for (float *memory : {send, receive})
            CUDA(cudaFreeHost(memory));
        CUDA(cudaStreamDestroy(stream));
        CUDA(cudaStreamDestroy(kernel_stream));
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
    // There are three ways to pack a column. Way 0: a 2-D copy. Way 1: a kernel and a copy. Way 2: a kernel that
    // accesses host memory over the bus. compare.py takes the fastest way.
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

static void measure(int rank, int size, int count, int kernel_iterations) {
    const int other = neighbour(rank, size), times = times_of(count);
    const buffers b(count);
    b.start(rank);
    const auto report_time = [&](const char *what, double time) { report("cuda", rank, size, what, count, time); };
    const auto rows = [&] {
        b.pack_row();
        swap_with(b.send, b.receive, count, other);
        b.unpack_row();
    };
    b.clear();
    rows();
    check_elements(b.read(), count, 1, 0, other, "a row");
    report_time("row", median_of(times, rows));
    report_time("pack_row", median_of(times, [&] { b.pack_row(); }));
    report_time("unpack_row", median_of(times, [&] { b.unpack_row(); }));
    // For large columns, the 2-D copy is not measured. It is far slower than the other ways, because it transfers each
    // element separately.
    for (int way = count > 1 << 16 ? 1 : 0; way < 3; way++) {
        const auto columns = [&] {
            b.pack_column(way);
            swap_with(b.send, b.receive, count, other);
            b.unpack_column(way);
        };
        b.clear();
        columns();
        check_elements(b.read(), count, column_pitch, column_at, other, "a column");
        report_time("column", median_of(times, columns));
        report_time("pack_column", median_of(times, [&] { b.pack_column(way); }));
        report_time("unpack_column", median_of(times, [&] { b.unpack_column(way); }));
    }
    std::vector<float> mine(static_cast<std::size_t>(count)), theirs(mine.size());
    report_time("mpi_alone", median_of(times, [&] {
                    MPI_Sendrecv(mine.data(), count, MPI_FLOAT, other, 1, theirs.data(), count, MPI_FLOAT, other, 1,
                                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }));
    const int work_count = 1 << 20;
    float *work = nullptr;
    CUDA(cudaMalloc(&work, work_count * sizeof(float)));
    const auto kernel = [&] {
        work_kernel<<<blocks_of(work_count), 256, 0, b.kernel_stream>>>(work, work_count, kernel_iterations);
    };
    kernel();
    CUDA(cudaStreamSynchronize(b.kernel_stream));
    const int few_times = std::min(times, 20);
    report_time("kernel", median_of(few_times, [&] {
                    kernel();
                    CUDA(cudaStreamSynchronize(b.kernel_stream));
                }));
    report_time("kernel_and_row", median_of(few_times, [&] {
                    CUDA(cudaMemcpyAsync(b.send, b.from, b.bytes, cudaMemcpyDeviceToHost, b.stream));
                    kernel();
                    b.wait();
                    swap_with(b.send, b.receive, count, other);
                    b.unpack_row();
                    CUDA(cudaStreamSynchronize(b.kernel_stream));
                }));
    CUDA(cudaFree(work));
}

// The same kernel as `step` of examples-mpi/heat/heat.cpp. `from` has an extra row before its first row and after its
// last row.
__global__ void heat_kernel(const float *from, float *to, int rows, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= rows) return;
    const std::size_t at = static_cast<std::size_t>(y + 1) * width + x;
    const float center = from[at];
    const float left = x > 0 ? from[at - 1] : center, right = x + 1 < width ? from[at + 1] : center;
    to[static_cast<std::size_t>(y) * width + x] =
        center + 0.2f * (from[at - width] + from[at + width] + left + right - 4.0f * center);
}
static float initial_value(int y, int x, int rows) {
    if (y < 0) return 100.0f;
    if (y >= rows) return 0.0f;
    return static_cast<float>((y * 31 + x * 17) % 50);
}

// Computes rows `first` to `first + count - 1` of a plate with `rows` rows, and returns them. `alone`: this rank
// exchanges no rows with other ranks. Sets `time` to the microseconds of a step.
static std::vector<float> run_heat(bool alone, int first, int count, int rows, int width, int steps, double *time) {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int up = !alone && rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int down = !alone && rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    std::vector<float> start;
    for (int y = first - 1; y <= first + count; y++)
        for (int x = 0; x < width; x++)
            start.push_back(initial_value(y, x, rows));
    const std::size_t row = static_cast<std::size_t>(width), row_bytes = row * sizeof(float);
    float *now = nullptr, *next = nullptr, *halo = nullptr;
    CUDA(cudaMalloc(&now, start.size() * sizeof(float)));
    CUDA(cudaMalloc(&next, start.size() * sizeof(float)));
    CUDA(cudaHostAlloc(&halo, 4 * row_bytes, cudaHostAllocDefault));
    CUDA(cudaMemcpy(now, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(next, start.data(), start.size() * sizeof(float), cudaMemcpyHostToDevice));
    cudaStream_t kernels = nullptr, copies = nullptr;
    CUDA(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    cudaEvent_t kernels_done = nullptr, arrived = nullptr;
    CUDA(cudaEventCreateWithFlags(&kernels_done, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    const auto rows_of = [&](const float *from, float *to, int row_count) {
        const dim3 block(64, 4), grid((width + 63) / 64, (row_count + 3) / 4);
        heat_kernel<<<grid, block, 0, kernels>>>(from, to, row_count, width);
    };
    float *sent_up = halo, *sent_down = halo + row, *from_up = halo + 2 * row, *from_down = halo + 3 * row;
    CUDA(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start_time = std::chrono::steady_clock::now();
    for (int n = 0; n < steps; n++) {
        MPI_Request all[4];
        MPI_Irecv(from_up, width, MPI_FLOAT, up, 1, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(from_down, width, MPI_FLOAT, down, 0, MPI_COMM_WORLD, &all[1]);
        // The edge rows are sent first, while the inner rows are computed.
        CUDA(cudaEventRecord(kernels_done, kernels));
        CUDA(cudaStreamWaitEvent(copies, kernels_done, 0));
        if (up != MPI_PROC_NULL) CUDA(cudaMemcpyAsync(sent_up, now + row, row_bytes, cudaMemcpyDeviceToHost, copies));
        if (down != MPI_PROC_NULL)
            CUDA(cudaMemcpyAsync(sent_down, now + count * row, row_bytes, cudaMemcpyDeviceToHost, copies));
        if (count > 2) rows_of(now + row, next + 2 * row, count - 2);
        CUDA(cudaStreamSynchronize(copies));
        MPI_Isend(sent_up, width, MPI_FLOAT, up, 0, MPI_COMM_WORLD, &all[2]);
        MPI_Isend(sent_down, width, MPI_FLOAT, down, 1, MPI_COMM_WORLD, &all[3]);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        if (up != MPI_PROC_NULL) CUDA(cudaMemcpyAsync(now, from_up, row_bytes, cudaMemcpyHostToDevice, copies));
        if (down != MPI_PROC_NULL)
            CUDA(cudaMemcpyAsync(now + (count + 1) * row, from_down, row_bytes, cudaMemcpyHostToDevice, copies));
        CUDA(cudaEventRecord(arrived, copies));
        CUDA(cudaStreamWaitEvent(kernels, arrived, 0));
        rows_of(now, next + row, 1);
        if (count > 1) rows_of(now + (count - 1) * row, next + count * row, 1);
        // The next step overwrites the page-locked rows, so the copies must be complete.
        CUDA(cudaStreamSynchronize(copies));
        std::swap(now, next);
    }
    CUDA(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start_time;
    *time = elapsed.count() / steps;
    std::vector<float> result(count * row);
    CUDA(cudaMemcpy(result.data(), now + row, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float *memory : {now, next})
        CUDA(cudaFree(memory));
    CUDA(cudaFreeHost(halo));
    CUDA(cudaEventDestroy(kernels_done));
    CUDA(cudaEventDestroy(arrived));
    CUDA(cudaStreamDestroy(kernels));
    CUDA(cudaStreamDestroy(copies));
    return result;
}

static int heat(int rank, int size, int rows_each, int width, int steps, bool check) {
    const int rows = rows_each * size;
    double time = 0, slowest = 0, largest_error = 0;
    (void)run_heat(false, rank * rows_each, rows_each, rows, width, 2, &time);
    const std::vector<float> mine = run_heat(false, rank * rows_each, rows_each, rows, width, steps, &time);
    MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (check) {
        // Each rank computes the whole plate alone and compares its own rows.
        const std::vector<float> alone = run_heat(true, 0, rows, rows, width, steps, &time);
        const std::size_t first = static_cast<std::size_t>(rank) * rows_each * width;
        for (std::size_t i = 0; i < mine.size(); i++) {
            const double error = std::fabs(static_cast<double>(mine[i]) - static_cast<double>(alone[first + i]));
            // A NaN counts as an infinite error: both std::fmax() and MPI_MAX may ignore NaN.
            largest_error = std::fmax(largest_error, std::isnan(error) ? HUGE_VAL : error);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest_error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d ranks, CUDA: a plate of %dx%d, %.2f microseconds a step, %s\n", size, rows, width, slowest,
                    !check                 ? "not checked"
                    : largest_error < 1e-3 ? "right"
                                           : "WRONG");
    return largest_error < 1e-3 ? 0 : 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1, local_rank = 0, devices = 0, code = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_free(&node);
    CUDA(cudaGetDeviceCount(&devices));
    CUDA(cudaSetDevice(local_rank % devices));
    if (argc > 4 && std::strcmp(argv[1], "heat") == 0) {
        code = heat(rank, size, std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
                    argc <= 5 || std::atoi(argv[5]) != 0);
    } else {
        const int max_count = argc > 2 ? std::atoi(argv[2]) : 1 << 30,
                  kernel_iterations = argc > 3 ? std::atoi(argv[3]) : 2000;
        for (int count : message_counts)
            if (count <= max_count) measure(rank, size, count, kernel_iterations);
        double one = 1;
        const double reduction =
            median_of(100, [&] { MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); });
        report("cuda", rank, size, "all_reduce", 2, reduction);
    }
    MPI_Finalize();
    return code;
}

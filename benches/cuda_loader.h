// Loads the CUDA peer (cuda_peer.h) at run time.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>

#include "cuda_peer.h"

inline void cuda_check(const char *error) {
    if (error) throw std::runtime_error(std::string("CUDA: ") + error);
}

// Loads `library` and opens the CUDA device with this UUID. Sets `device` to the device's name. Returns null and sets
// `reason` if the library or the device is missing.
const CudaPeer *load_cuda(const std::string &library, const uint8_t *uuid, std::string &reason, std::string &device);

// CUDA memory that frees itself.
inline std::shared_ptr<void> cuda_memory(const CudaPeer &cuda, size_t size, bool pinned_host) {
    void *memory = nullptr;
    cuda_check(cuda.allocate(size, pinned_host, &memory));
    return {memory, [&cuda, pinned_host](void *m) { cuda.release(m, pinned_host); }};
}

// Loads the CUDA peer (cuda_loader.h).
#include "cuda_loader.h"

#include <dlfcn.h>

const CudaPeer *load_cuda(const std::string &library, const uint8_t *uuid, std::string &reason, std::string &device) {
    void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        reason = dlerror();
        return nullptr;
    }
    const auto entry = reinterpret_cast<cuda_peer_function>(dlsym(handle, "cuda_peer"));
    if (!entry) {
        reason = library + " has no cuda_peer";
        return nullptr;
    }
    const char *name = "";
    if (const char *error = entry()->open(uuid, &name)) {
        reason = error;
        return nullptr;
    }
    device = name;
    return entry();
}

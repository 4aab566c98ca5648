// Tests the library on a Vulkan device that lacks a feature. lacking_layer.c hides the feature. usage: lacking FEATURE
#include <amp.h>
#include <amp_graphics.h>
#include <revamp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace concurrency;

static const uint32_t images_words[] =
#include "images.inc"
    ;

static int has_failed;
static void check(bool is_right, const std::string &what) {
    if (is_right) return;
    std::printf("WRONG: %s\n", what.c_str());
    has_failed = 1;
}
static bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

// An element of at least 4 bytes, because views do not allow smaller elements.
template <class T> struct padded { T parts[sizeof(T) < 4 ? 4 / sizeof(T) : 1]; };

// Launches a kernel with elements of type T. Returns the message of the exception, or "" if the launch succeeds.
template <class T> static std::string launch(const accelerator_view &view) {
    try {
        std::vector<padded<T>> numbers(100);
        array_view<padded<T>> all(100, numbers);
        parallel_for_each(
            view, all.extent, [=](index<1> i) restrict(amp) {
                // Variables of the thread use the type too.
                T sums[4] = {T(i[0]), T(i[0] + 1), T(i[0] + 2), T(i[0] + 3)};
                for (int n = 0; n < 8; n++)
                    sums[i[0] * n % 4] = T(sums[i[0] * n % 4] + T(1));
                for (T &part : all[i].parts)
                    part = T(part * T(3) + sums[3]);
            });
        all.synchronize();
        for (int i = 0; i < 100; i++) {
            int ones = 0;
            for (int n = 0; n < 8; n++)
                ones += i * n % 4 == 3;
            check(numbers[i].parts[0] == T(i + 3 + ones), "number " + std::to_string(i));
        }
        return "";
    } catch (const runtime_exception &e) {
        return e.what();
    }
}

// Tests a feature without which a device cannot be used.
static void required_feature(const std::string &words, revamp_accelerator device) {
    revamp_accelerator_info info = {};
    info.struct_size = sizeof info;
    check(revamp_accelerator_get_info(device, &info) == REVAMP_OK, "get_info");
    check(info.unusable_reason && contains(info.unusable_reason, words), "the reason names the feature");
    std::printf("%s\n", info.unusable_reason ? info.unusable_reason : "usable");
    revamp_accelerator_view view = nullptr;
    check(revamp_accelerator_get_default_view(device, &view) != REVAMP_OK, "there is no view");
    check(contains(revamp_last_error_message(), words),
          std::string("the error names it: ") + revamp_last_error_message());
    revamp_accelerator found = nullptr;
    check(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &found) != REVAMP_OK, "no default for SPIR-V");
    check(contains(revamp_last_error_message(), words),
          std::string("the second error: ") + revamp_last_error_message());
    for (const accelerator &one : accelerator::get_all())
        check(one.device_path.find(L"vulkan") == std::wstring::npos, "the device is not listed");
    check(launch<int>(accelerator().default_view).empty(), "host threads run kernels");
}

// Tests a feature without which kernels with elements of type T are refused.
template <class T> static void feature_for_elements(const std::string &feature, const std::wstring &path) {
    const accelerator_view view = accelerator(path).default_view;
    check(launch<int>(view).empty(), "other kernels run");
    const std::string message = launch<T>(view);
    std::printf("%s\n", message.c_str());
    // Compiled kernels compute with char and short in 32 bits.
    if (feature == "shaderInt16" || feature == "shaderInt8") return check(message.empty(), "not needed");
    check(contains(message, feature), "the kernel is refused by the feature's name: " + message);
    check(launch<T>(accelerator(L"host").default_view).empty(), "host threads run it");
}

static unsigned long long held(revamp_accelerator device) {
    revamp_memory_usage usage = {};
    usage.struct_size = sizeof usage;
    check(revamp_accelerator_get_memory_usage(device, &usage) == REVAMP_OK, "get_memory_usage");
    return usage.held;
}

// Tests how kernels read textures. If the device has the feature, kernels read images, which need memory in addition to
// the texels. Otherwise kernels read the texels by address. In both cases, reads outside of a texture return 0.
static void textures(bool uses_images, revamp_accelerator device, const std::wstring &path) {
    const accelerator_view view = accelerator(path).default_view;
    const int n = 512;
    std::vector<float> numbers(n * n);
    for (int i = 0; i < n * n; i++)
        numbers[i] = float(i % 1000);
    const graphics::texture<float, 2> texels(n, n, numbers.data(), unsigned(numbers.size() * sizeof(float)), 32U, view);
    const graphics::texture_view<const float, 2> from(texels);
    std::vector<float> got(n * n);
    array<float, 2> sums(n, n, view);
    const auto read = [&] {
        parallel_for_each(
            view, sums.extent,
            [ =, &sums ](index<2> i) restrict(amp) { sums[i] = from(i[0], i[1] + 8) + from(i[0] - 8, i[1]); });
        copy(sums, got.begin());
    };
    // The second read creates the image.
    read();
    const unsigned long long before = held(device);
    read();
    const auto at = [&](int y, int x) { return y < 0 || x >= n ? 0.0f : numbers[y * n + x]; };
    for (int i = 0; i < n * n; i++)
        if (got[i] != at(i / n, i % n + 8) + at(i / n - 8, i % n)) return check(false, "texel " + std::to_string(i));
    check((held(device) >= before + numbers.size() * sizeof(float)) == uses_images, "image use matches the feature");
    std::printf("%s\n", uses_images ? "by images" : "by texels");
}

// TEX-36: kernels read two textures on a device that has only one descriptor for sampled images.
static void one_image_descriptor(revamp_accelerator device, const std::wstring &path) {
    revamp_kernel_options options = {};
    options.struct_size = sizeof options;
    options.spirv = images_words;
    options.spirv_size = sizeof images_words;
    revamp_kernel kernel = nullptr;
    check(revamp_kernel_create(device, &options, &kernel) == REVAMP_ERROR_UNSUPPORTED_FEATURE, "the module is refused");
    const std::string message = revamp_last_error_message();
    std::printf("%s\n", message.c_str());
    check(contains(message, "uses 2 sampled images"), "the message has the number of images");
    check(contains(message, "is 1 (maxPerStageDescriptorSampledImages)"), "the message has the number of slots");
    // A compiled kernel then reads the texels by address.
    const accelerator_view view = accelerator(path).default_view;
    std::vector<int> ones(64), twos(64), got(64);
    for (int i = 0; i < 64; i++)
        ones[i] = i, twos[i] = 100 * i;
    const graphics::texture<int, 1> a(64, ones.data(), 256U, 32U, view), b(64, twos.data(), 256U, 32U, view);
    const graphics::texture_view<const int, 1> one(a), two(b);
    array<int> sums(64, view);
    for (int round = 1; round < 4; round++) {
        parallel_for_each(
            view, sums.extent, [ =, &sums ](index<1> i) restrict(amp) { sums[i] = round * (one[i] + two[i]); });
        copy(sums, got.begin());
        for (int i = 0; i < 64; i++)
            if (got[i] != round * 101 * i) return check(false, "texel " + std::to_string(i));
    }
}

// Tests a driver that cannot list its devices.
static void devices() {
    for (const accelerator &one : accelerator::get_all())
        check(one.device_path.find(L"vulkan") == std::wstring::npos, "no device is listed");
    check(launch<int>(accelerator().default_view).empty(), "host threads run kernels");
    revamp_accelerator found = nullptr;
    check(revamp_accelerator_get_default(REVAMP_CODE_SPIRV, &found) != REVAMP_OK, "no default for SPIR-V");
    const std::string message = revamp_last_error_message();
    std::printf("%s\n", message.c_str());
    check(contains(message, "vkEnumeratePhysicalDevices"), "the error names the call");
}

int main(int count, char **arguments) {
    const std::string feature = count > 1 ? arguments[1] : "";
    if (feature == "devices") {
        devices();
        return has_failed;
    }
    revamp_accelerator all[16] = {}, device = nullptr;
    size_t found = 0;
    check(revamp_accelerator_list(all, 16, &found) == REVAMP_OK, "list");
    std::wstring path;
    for (size_t i = 0; i < found && i < 16; i++) {
        revamp_accelerator_info info = {};
        info.struct_size = sizeof info;
        if (revamp_accelerator_get_info(all[i], &info) != REVAMP_OK || info.kind != REVAMP_ACCELERATOR_VULKAN) continue;
        device = all[i];
        path.assign(info.device_path, info.device_path + std::strlen(info.device_path));
    }
    if (!device) {
        std::printf("no Vulkan device\n");
        return 2;
    }
    if (feature == "bufferDeviceAddress" || feature == "timelineSemaphore" || feature == "shaderInt64")
        required_feature("the device feature " + feature, device);
    else if (feature == "android2021")
        required_feature("Vulkan 1.2 (it has 1.1.0)", device);
    else if (feature == "robustImageAccess" || feature == "version1.3")
        // A device with Vulkan 1.2 still has robustImageAccess, from VK_EXT_image_robustness.
        textures(feature == "version1.3", device, path);
    else if (feature == "images")
        one_image_descriptor(device, path);
    else if (feature == "shaderFloat64")
        feature_for_elements<double>(feature, path);
    else if (feature == "shaderInt16" || feature == "storageBuffer16BitAccess")
        feature_for_elements<short>(feature, path);
    else
        feature_for_elements<signed char>(feature, path);
    return has_failed;
}

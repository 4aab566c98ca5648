// Tests of rules about three accelerators: two Vulkan devices and host threads. A copy of the software driver provides
// the second Vulkan device: the Vulkan loader treats the copy as another driver.
#include "rules.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace {

namespace files = std::filesystem;

// Adds a copy of the software driver to the loader's drivers before the library looks for devices. Removes it at exit.
struct second_driver {
    files::path folder;

    second_driver() {
        for (const char *directory : {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
            std::error_code error;
            for (const files::directory_entry &entry : files::directory_iterator(directory, error))
                if (entry.path().filename().string().rfind("lvp_icd", 0) == 0 && add(entry.path())) return;
        }
    }
    ~second_driver() {
        std::error_code error;
        if (!folder.empty()) files::remove_all(folder, error);
    }

  private:
    bool add(const files::path &manifest) {
        std::stringstream text;
        text << std::ifstream(manifest).rdbuf();
        const std::string json = text.str();
        std::smatch library;
        if (!std::regex_search(json, library, std::regex("\"library_path\": *\"([^\"]*)\""))) return false;
        // If the path is only a file name, the loader searches for the library, but copy_file() does not find it.
        std::error_code error;
        folder = files::temp_directory_path() / ("revamp-twin-" + std::to_string(getpid()));
        files::create_directory(folder, error);
        if (!files::copy_file(library[1].str(), folder / "twin.so", error)) return false;
        const files::path twin = folder / "twin.json";
        std::ofstream(twin) << library.prefix() << "\"library_path\": \"" << (folder / "twin.so").string() << '"'
                            << library.suffix();
        setenv("VK_ADD_DRIVER_FILES", twin.c_str(), 1);
        return true;
    }
};
const second_driver driver;

} // namespace

using concurrency::accelerator;

// Data moves from one accelerator to another through the home location, and is then also valid at the home location.
TEST(COH_19_an_array_as_home_of_three_accelerators) {
    const std::vector<engine> all = engines();
    bool is_run = false;
    for (const engine &owner : all)
        for (const engine &writer : all)
            for (const engine &reader : all) {
                const accelerator &a = owner.accelerator(), &b = writer.accelerator(), &c = reader.accelerator();
                if (a == b || b == c || c == a) continue;
                is_run = true;
                const std::vector<number> v = numbers();
                concurrency::array<number> home(count, v.begin(), owner.normal());
                {
                    numbers_view over(home);
                    writer.step(writer.normal(), over);
                    CHECK(count_valid_bytes(over, owner.normal()) == 0 &&
                          count_valid_bytes(over, writer.normal()) == all_bytes);
                    CHECK(reader.read(reader.normal(), over)[2] == 7);
                    CHECK(count_valid_bytes(over, owner.normal()) == all_bytes &&
                          count_valid_bytes(over, writer.normal()) == all_bytes);
                    counter moved;
                    over = numbers_view(home);
                    CHECK(moved() == 0);
                }
                CHECK(std::vector<number>(home)[2] == 7);
            }
    if (!is_run) SKIP("there are fewer than three accelerators that run kernels");
}

CHECK_MAIN

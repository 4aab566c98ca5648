// Rules about three accelerators: two Vulkan devices and host threads. Where there is but one Vulkan device, a copy of
// the software driver is the second: the loader takes it for another driver.
#include "rules.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace {

namespace files = std::filesystem;

// Before the library looks for devices: adds the copy to the drivers that the loader finds. Removed at exit.
struct second_driver {
    files::path folder;

    second_driver() {
        for (const char *place : {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
            std::error_code failed;
            for (const files::directory_entry &entry : files::directory_iterator(place, failed))
                if (entry.path().filename().string().rfind("lvp_icd", 0) == 0 && add(entry.path())) return;
        }
    }
    ~second_driver() {
        std::error_code failed;
        if (!folder.empty()) files::remove_all(folder, failed);
    }

  private:
    bool add(const files::path &manifest) {
        std::stringstream text;
        text << std::ifstream(manifest).rdbuf();
        const std::string json = text.str();
        std::smatch library;
        if (!std::regex_search(json, library, std::regex("\"library_path\": *\"([^\"]*)\""))) return false;
        folder = files::temp_directory_path() / ("revamp-twin-" + std::to_string(getpid()));
        files::create_directory(folder);
        files::copy_file(library[1].str(), folder / "twin.so");
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

// What one accelerator wrote and another one reads goes by way of home, which is valid then.
TEST(COH_19_an_array_as_home_of_three_accelerators) {
    const std::vector<engine> all = engines();
    bool is_run = false;
    for (const engine &at_home : all)
        for (const engine &writer : all)
            for (const engine &reader : all) {
                const accelerator &a = at_home.accelerator(), &b = writer.accelerator(), &c = reader.accelerator();
                if (a == b || b == c || c == a) continue;
                is_run = true;
                const std::vector<number> v = numbers();
                concurrency::array<number> home(count, v.begin(), at_home.normal());
                {
                    numbers_view over(home);
                    writer.step(writer.normal(), over);
                    CHECK(valid(over, at_home.normal()) == 0 && valid(over, writer.normal()) == all_bytes);
                    CHECK(reader.read(reader.normal(), over)[2] == 7);
                    CHECK(valid(over, at_home.normal()) == all_bytes && valid(over, writer.normal()) == all_bytes);
                    counter moved;
                    over = numbers_view(home);
                    CHECK(moved() == 0);
                }
                CHECK(std::vector<number>(home)[2] == 7);
            }
    if (!is_run) SKIP("there are fewer than three accelerators that run kernels");
}

CHECK_MAIN

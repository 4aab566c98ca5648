# shellcheck shell=sh disable=SC2154
# To be sourced, with `here` set to the folder of a bundle: the Vulkan loader, where the machine has none, from Debian packages in .gl or
# packages (a GPU bundle's), put there by whoever made the bundle.
if ! ldconfig -p | grep -q 'libvulkan\.so\.1'; then
    for packages in "${GL_PACKAGES:-}" "$here/.gl" "$here/../.gl" "$here/../packages" ./.gl ./.bundle/packages; do
        [ -n "$packages" ] && ls "$packages"/*.deb >/dev/null 2>&1 || continue
        loader=$here/loader
        mkdir -p "$loader"
        for package in "$packages"/*.deb; do dpkg -x "$package" "$loader"; done
        LD_LIBRARY_PATH=$(ls -d "$loader"/usr/lib/*-linux-gnu | head -n 1)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        export LD_LIBRARY_PATH
        break
    done
fi
icd=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_DRIVER_FILES:-}" ] && [ -e "$icd" ]; then
    VK_DRIVER_FILES=$icd
    export VK_DRIVER_FILES
fi

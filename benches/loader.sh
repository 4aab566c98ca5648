# shellcheck shell=sh disable=SC2154
# Source this file with `here` set to the folder of a bundle. If the machine has no Vulkan loader, this file unpacks the loader from Debian
# packages, which are in .gl, or in packages/ of a GPU bundle.
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

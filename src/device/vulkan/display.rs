//! Finds out whether a display is connected to a device. Vulkan alone cannot tell for a compute-only device.

#![allow(unsafe_code)]

use super::instance::Instance;
use ash::vk;
use std::path::Path;

/// The device's nodes below `/dev/dri`, as (major, minor).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrmNodes {
    /// The node that drives displays.
    pub primary: Option<(i64, i64)>,
    /// The node for rendering.
    pub render: Option<(i64, i64)>,
}

/// True if a display is connected to the device; false if unknown.
pub(super) fn has_display(instance: &Instance, handle: vk::PhysicalDevice, nodes: DrmNodes) -> bool {
    if let Some(known) = drm_connected(Path::new("/sys/dev/char"), nodes) {
        return known;
    }
    let Some(display) = &instance.display else { return false };
    // SAFETY: the handle is of this instance, with which the extension is enabled.
    unsafe { display.get_physical_device_display_properties(handle) }.is_ok_and(|d| !d.is_empty())
}

/// True if the operating system says that a display is connected to the device; `None` if it lists no connectors.
fn drm_connected(char_devices: &Path, nodes: DrmNodes) -> Option<bool> {
    let mut known = None;
    for (major, minor) in nodes.primary.into_iter().chain(nodes.render) {
        // The status of a connector is the file <node>/device/drm/cardN/cardN-<connector>/status.
        let cards = char_devices.join(format!("{major}:{minor}")).join("device").join("drm");
        for card in std::fs::read_dir(cards).into_iter().flatten().flatten() {
            if !card.file_name().to_string_lossy().starts_with("card") {
                continue;
            }
            for connector in std::fs::read_dir(card.path()).into_iter().flatten().flatten() {
                // Writeback connectors have the status "unknown" and count as not connected.
                if let Ok(status) = std::fs::read_to_string(connector.path().join("status")) {
                    if status.trim() == "connected" {
                        return Some(true);
                    }
                    known = Some(false);
                }
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connector_status_decides() {
        let root = std::env::temp_dir().join(format!("revamp-drm-{}", std::process::id()));
        let nodes = |minor| DrmNodes { primary: None, render: Some((226, minor)) };
        for (minor, statuses) in [(128, &["disconnected", "connected"][..]), (129, &["disconnected"]), (130, &[])] {
            let drm = root.join(format!("226:{minor}/device/drm"));
            std::fs::create_dir_all(drm.join("renderD")).unwrap();
            std::fs::create_dir_all(drm.join("card0")).unwrap();
            for (i, status) in statuses.iter().enumerate() {
                let connector = drm.join(format!("card0/card0-DP-{i}"));
                std::fs::create_dir_all(&connector).unwrap();
                std::fs::write(connector.join("status"), format!("{status}\n")).unwrap();
            }
        }
        assert_eq!(drm_connected(&root, nodes(128)), Some(true));
        assert_eq!(drm_connected(&root, nodes(129)), Some(false));
        assert_eq!(drm_connected(&root, nodes(130)), None);
        assert_eq!(drm_connected(&root, DrmNodes::default()), None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}

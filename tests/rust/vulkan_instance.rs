//! Tests the Vulkan instance in child processes, because a process creates its instance and reads its settings only once. Tests
//! of devices print SKIPPED if there is no Vulkan.

#![allow(clippy::unwrap_used)]

use revamp::device::vulkan::instance::instance;
use revamp::device::vulkan::messages::{last_validation_message, validation_messages};
use revamp::device::vulkan::opened::create_device;
use revamp::device::vulkan::physical::physical_devices;
use std::process::Command;

/// Runs the test `name` of this file in a child process with these variables. Returns its output.
fn run_in_child(name: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    for v in revamp::config::VARIABLES {
        command.env_remove(v.name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

#[test]
#[ignore = "run by the tests below"]
fn child_open_all() {
    match instance() {
        Err(e) => {
            println!("NONE: {e}");
            let again = instance().err().map(|e| e.to_string());
            assert_eq!(again, Some(e.to_string()), "the failure is remembered");
        }
        Ok(instance) => {
            println!("VALIDATION: {} LABELS: {}", instance.validation, instance.debug_utils);
            for p in physical_devices(instance, revamp::config::get()).unwrap() {
                println!(
                    "SHARED: {} ACCESS: {} GROUPS: {:?}",
                    p.properties.supports_cpu_shared_memory, p.properties.default_cpu_access_type, p.limits.max_groups
                );
                if p.usable.is_ok() {
                    let opened = create_device(instance, &p).unwrap();
                    // SAFETY: no objects of the device exist.
                    #[allow(unsafe_code)]
                    unsafe {
                        opened.device.destroy_device(None);
                    }
                }
            }
            println!("MESSAGES: {} {:?}", validation_messages(), last_validation_message());
        }
    }
}

#[test]
#[ignore = "run by the tests below"]
fn child_provoke() {
    let Ok(instance) = instance() else {
        println!("NONE");
        return;
    };
    for p in physical_devices(instance, revamp::config::get()).unwrap() {
        let Ok(opened) = create_device(instance, &p) else { continue };
        // SAFETY: the call is invalid on purpose. The validation layer reports usage 0, but drivers only store the size.
        #[allow(unsafe_code)]
        unsafe {
            let info = ash::vk::BufferCreateInfo::default().size(64);
            if let Ok(buffer) = opened.device.create_buffer(&info, None) {
                opened.device.destroy_buffer(buffer, None);
            }
            opened.device.destroy_device(None);
        }
    }
    println!("VALIDATION: {} MESSAGES: {}", instance.validation, validation_messages());
    println!("LAST: {}", last_validation_message().unwrap_or_default());
}

fn report_missing_vulkan(text: &str) -> bool {
    let none = text.contains("NONE");
    if none {
        eprintln!("SKIPPED: no Vulkan here: {text}");
    }
    none
}

#[test]
fn no_vulkan_is_an_error_that_says_so() {
    let text = run_in_child("child_open_all", &[("REVAMP_TEST", "no-vulkan")]);
    assert!(text.contains("NONE: ") && text.contains("REVAMP_TEST=no-vulkan"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn no_driver_is_an_error_that_says_what_to_install() {
    let text =
        run_in_child("child_open_all", &[("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")]);
    assert!(text.contains("NONE: ") && text.contains("install"), "{text}");
}

#[test]
fn opening_every_device_is_clean_under_validation() {
    let text = run_in_child("child_open_all", &[("REVAMP_VALIDATION", "1"), ("REVAMP_LOG", "warn")]);
    if report_missing_vulkan(&text) {
        return;
    }
    assert!(text.contains("MESSAGES: 0 None"), "{text}");
    // The layer is installed, or a message says that it is not.
    assert!(text.contains("VALIDATION: true LABELS: true") || text.contains("is not installed"), "{text}");
}

#[test]
fn a_missing_layer_is_only_a_warning() {
    let text = run_in_child(
        "child_open_all",
        &[
            ("REVAMP_VALIDATION", "1"),
            ("REVAMP_LOG", "warn"),
            ("VK_LAYER_PATH", "/nonexistent"),
            ("VK_ADD_LAYER_PATH", ""),
        ],
    );
    if report_missing_vulkan(&text) {
        return;
    }
    if cfg!(target_os = "linux") {
        assert!(text.contains("is not installed") && text.contains("VALIDATION: false"), "{text}");
    }
    assert!(text.contains("MESSAGES: 0"), "{text}");
}

#[test]
fn an_invalid_call_is_counted_and_its_message_is_kept() {
    let text = run_in_child("child_provoke", &[("REVAMP_VALIDATION", "1"), ("REVAMP_LOG", "warn")]);
    if report_missing_vulkan(&text) {
        return;
    }
    if !text.contains("VALIDATION: true") {
        eprintln!("SKIPPED: no validation layer here");
        return;
    }
    assert!(text.contains("LAST: Vulkan: VUID-VkBufferCreateInfo-"), "{text}");
    assert!(text.contains("revamp [warn] Vulkan: VUID-VkBufferCreateInfo-"), "{text}");
}

#[test]
fn settings_reach_the_devices() {
    let text = run_in_child("child_open_all", &[("REVAMP_MEMORY", "separate"), ("REVAMP_TEST", "groups=7")]);
    if report_missing_vulkan(&text) {
        return;
    }
    assert!(!text.contains("SHARED: true") && !text.contains("ACCESS: 3"), "{text}");
    assert!(!text.contains("SHARED") || text.contains("[7, 7, 7]"), "{text}");
}

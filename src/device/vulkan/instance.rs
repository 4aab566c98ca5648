//! The Vulkan loader and the one `VkInstance` of the process.

#![allow(unsafe_code)]

use super::messages;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::log;
use ash::vk;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
/// The maximum number of bytes that one launch may print, if the layer has a setting for it. The layer's default is 1024.
const PRINTF_BYTES: u32 = 1 << 20;

/// Advice for users without Vulkan.
const INSTALL: &str = if cfg!(windows) {
    "install the graphics driver of the GPU's maker, which brings Vulkan"
} else if cfg!(target_os = "macos") {
    "install MoltenVK and the Vulkan loader (Homebrew: molten-vk, vulkan-loader; or the LunarG SDK)"
} else {
    "install the Vulkan loader and the GPU's driver (Debian, Ubuntu: libvulkan1 and mesa-vulkan-drivers or nvidia-driver; \
     Fedora: vulkan-loader and mesa-vulkan-drivers; Arch: vulkan-icd-loader and vulkan-radeon, vulkan-intel or nvidia-utils)"
};

/// The loaded Vulkan library and the instance. Lives until the process ends, because unloading drivers is not safe.
pub struct Instance {
    /// Functions of the loader.
    pub entry: ash::Entry,
    /// Functions of the instance.
    pub raw: ash::Instance,
    /// The Vulkan version that the library requests: the loader's version, but at most 1.3.
    pub api_version: u32,
    /// True if `VK_EXT_debug_utils` is enabled. It gives names to objects.
    pub debug_utils: bool,
    /// True if the validation layer is loaded.
    pub validation: bool,
    /// `VK_KHR_display`, if the loader offers it.
    pub(super) display: Option<ash::khr::display::Instance>,
    /// Kept alive with the instance.
    _messenger: vk::DebugUtilsMessengerEXT,
}

static INSTANCE: OnceLock<Instance> = OnceLock::new();
/// The reason why there are no Vulkan devices.
static FAILURE: Mutex<Option<Error>, { rank::INSTANCE }> = Mutex::new(None);

/// The instance, created by the first call. A failure is remembered and returned by later calls.
pub fn instance() -> Result<&'static Instance> {
    if let Some(made) = INSTANCE.get() {
        return Ok(made);
    }
    let mut failure = FAILURE.lock();
    if let Some(e) = &*failure {
        return Err(e.clone());
    }
    // Another thread may have created the instance before this thread got the lock.
    if let Some(made) = INSTANCE.get() {
        return Ok(made);
    }
    match Instance::new(crate::config::get()) {
        Ok(made) => Ok(INSTANCE.get_or_init(|| made)),
        Err(e) => {
            log!(Info, "no Vulkan accelerators: {e}");
            *failure = Some(e.clone());
            Err(e)
        }
    }
}

/// The reason why there are no Vulkan devices; `None` if Vulkan did not fail.
pub fn failure() -> Option<Error> {
    FAILURE.lock().clone()
}

/// Remembers why devices could not be listed, although there is an instance.
pub fn remember_failure(e: Error) {
    log!(Warn, "no Vulkan accelerators: {e}");
    *FAILURE.lock() = Some(e);
}

/// Forgets a failure, so that the next call of [`instance`] tries again.
pub fn forget_failure() {
    *FAILURE.lock() = None;
}

/// The error for a Vulkan call that failed.
pub fn failed(what: impl std::fmt::Display, result: vk::Result) -> Error {
    match result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => Error::out_of_memory(format!("{what}: out of host memory")),
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Error::out_of_memory(format!("{what}: out of device memory")),
        vk::Result::ERROR_DEVICE_LOST => Error::removed(format!("{what}: the device was lost")),
        other => Error::runtime(format!("{what}: Vulkan returned {other:?}")),
    }
}

/// Version as `major.minor.patch`.
pub fn version_text(v: u32) -> String {
    format!("{}.{}.{}", vk::api_version_major(v), vk::api_version_minor(v), vk::api_version_patch(v))
}

fn has(list: &[vk::ExtensionProperties], name: &CStr) -> bool {
    list.iter().any(|e| e.extension_name_as_c_str() == Ok(name))
}

/// The program's `vkGetInstanceProcAddr`; `None` for that of the installed loader.
pub type GetInstanceProcAddr = Option<vk::PFN_vkGetInstanceProcAddr>;

impl Instance {
    /// Wraps an instance of the program, created for version `api`. The library never destroys it.
    ///
    /// # Safety
    /// `raw` is an instance that outlives all objects that are made with the returned value.
    pub(super) unsafe fn of_program(raw: vk::Instance, api: u32, get: GetInstanceProcAddr) -> Result<Self> {
        let entry = match get {
            Some(get_instance_proc_addr) => {
                // SAFETY: the program promises that this is Vulkan's function.
                unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
            }
            None => load()?.0,
        };
        // SAFETY: by the caller.
        let raw = unsafe { ash::Instance::load(entry.static_fn(), raw) };
        let api_version = api.min(vk::API_VERSION_1_3);
        let _messenger = vk::DebugUtilsMessengerEXT::null();
        Ok(Self { entry, raw, api_version, debug_utils: false, validation: false, display: None, _messenger })
    }

    fn new(config: &Config) -> Result<Self> {
        if config.test.no_vulkan {
            return Err(Error::runtime("REVAMP_TEST=no-vulkan disables Vulkan; unset it"));
        }
        let (entry, loader) = load()?;
        let api_version = loader.min(vk::API_VERSION_1_3);

        // SAFETY: no preconditions beyond a loaded entry; no layer name is passed.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
        let validation = config.validation >= 1;
        let layer = if validation || config.debug_printf { ValidationLayer::find(&entry, config) } else { None };
        let layer_has = |name| layer.as_ref().is_some_and(|l| has(&l.extensions, name));
        // Tools such as RenderDoc show the names of objects. The loader offers the extension with and without tools.
        let debug_utils = has(&extensions, ash::ext::debug_utils::NAME) || layer_has(ash::ext::debug_utils::NAME);
        let receives_messages = debug_utils && (validation || config.debug_printf);

        let mut names: Vec<*const c_char> = Vec::new();
        let mut flags = vk::InstanceCreateFlags::empty();
        if has(&extensions, ash::khr::portability_enumeration::NAME) {
            names.push(ash::khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let display = has(&extensions, ash::khr::display::NAME) && has(&extensions, ash::khr::surface::NAME);
        if display {
            names.push(ash::khr::surface::NAME.as_ptr());
            names.push(ash::khr::display::NAME.as_ptr());
        }
        if debug_utils {
            names.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        let uses_validation_features = layer_has(ash::ext::validation_features::NAME);
        // Only VK_EXT_layer_settings can set the maximum output of a kernel.
        let uses_layer_settings =
            (!uses_validation_features || config.debug_printf) && layer_has(ash::ext::layer_settings::NAME);
        if uses_validation_features {
            names.push(ash::ext::validation_features::NAME.as_ptr());
        }
        if uses_layer_settings {
            names.push(ash::ext::layer_settings::NAME.as_ptr());
        }
        let layers: Vec<*const c_char> = layer.iter().map(|_| VALIDATION_LAYER.as_ptr()).collect();

        let application = vk::ApplicationInfo::default()
            .application_name(c"revamp")
            .engine_name(c"revamp")
            .engine_version(vk::make_api_version(0, 0, 1, 0))
            .api_version(api_version);
        let verbose = config.debug_printf || crate::trace::log::enabled(crate::trace::log::Level::Debug);
        let mut messenger_info = messages::create_info(verbose);
        let (enabled, disabled) = switches(config);
        let mut validation_info = vk::ValidationFeaturesEXT::default()
            .enabled_validation_features(&enabled)
            .disabled_validation_features(&disabled);
        let settings = settings(config);
        let settings: Vec<_> = settings.iter().map(Setting::raw).collect();
        let mut settings_info = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&names);
        if receives_messages {
            info = info.push_next(&mut messenger_info);
        }
        if uses_validation_features {
            info = info.push_next(&mut validation_info);
        }
        if uses_layer_settings {
            info = info.push_next(&mut settings_info);
        }
        // SAFETY: everything `info` points to lives until the call returns; layers and extensions were enumerated.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::runtime(format!(
                "the Vulkan loader found no driver it can use (VK_ERROR_INCOMPATIBLE_DRIVER); {INSTALL}"
            )),
            other => failed("vkCreateInstance", other),
        })?;

        let messenger = if receives_messages { messenger(&entry, &raw, verbose) } else { Default::default() };
        log!(
            Info,
            "Vulkan loader {}, instance {}{}",
            version_text(loader),
            version_text(api_version),
            if layer.is_some() { ", validation layer on" } else { "" }
        );
        let validation = validation && layer.is_some();
        let display = display.then(|| ash::khr::display::Instance::new(&entry, &raw));
        Ok(Self { entry, raw, api_version, debug_utils, validation, display, _messenger: messenger })
    }
}

/// The loader and its version.
fn load() -> Result<(ash::Entry, u32)> {
    // Layers and drivers leave threads and thread-local destructors behind. So the library must stay mapped, even if the rest of
    // this function fails.
    static LOADED: OnceLock<ash::Entry> = OnceLock::new();
    let entry = match LOADED.get() {
        Some(entry) => entry.clone(),
        None => {
            // SAFETY: the initialisers of the system's Vulkan loader are trusted.
            let entry = unsafe { ash::Entry::load() }
                .map_err(|e| Error::runtime(format!("the Vulkan loader could not be loaded ({e}); {INSTALL}")))?;
            LOADED.get_or_init(|| entry).clone()
        }
    };

    // SAFETY: no preconditions beyond a loaded entry.
    let loader = unsafe { entry.try_enumerate_instance_version() }
        .map_err(|e| failed("vkEnumerateInstanceVersion", e))?
        .unwrap_or(vk::API_VERSION_1_0);
    if loader < vk::API_VERSION_1_2 {
        return Err(Error::runtime(format!(
            "the Vulkan loader has version {}, but revamp needs version 1.2 or later; {INSTALL}",
            version_text(loader)
        )));
    }
    Ok((entry, loader))
}

/// Receives the messages of the validation layer.
fn messenger(entry: &ash::Entry, instance: &ash::Instance, verbose: bool) -> vk::DebugUtilsMessengerEXT {
    let functions = ash::ext::debug_utils::Instance::new(entry, instance);
    let info = messages::create_info(verbose);
    // SAFETY: the extension is enabled; the callback is a plain function that never unwinds.
    unsafe { functions.create_debug_utils_messenger(&info, None) }.unwrap_or_else(|e| {
        log!(
            Warn,
            "messages of the validation layer are not logged, because vkCreateDebugUtilsMessengerEXT failed: {e:?}"
        );
        vk::DebugUtilsMessengerEXT::null()
    })
}

/// The features of older validation layers (`VK_EXT_validation_features`) to enable and disable.
fn switches(config: &Config) -> (Vec<vk::ValidationFeatureEnableEXT>, Vec<vk::ValidationFeatureDisableEXT>) {
    use vk::{ValidationFeatureDisableEXT as Disable, ValidationFeatureEnableEXT as Enable};
    let mut enabled = Vec::new();
    if config.validation >= 1 {
        enabled.push(Enable::SYNCHRONIZATION_VALIDATION);
    }
    if config.debug_printf {
        enabled.push(Enable::DEBUG_PRINTF);
    }
    let disabled = if config.validation >= 1 {
        Vec::new()
    } else {
        // The layer is used only for printf.
        vec![
            Disable::THREAD_SAFETY,
            Disable::API_PARAMETERS,
            Disable::OBJECT_LIFETIMES,
            Disable::CORE_CHECKS,
            Disable::UNIQUE_HANDLES,
        ]
    };
    (enabled, disabled)
}

/// A setting of newer validation layers (`VK_EXT_layer_settings`).
struct Setting {
    name: &'static CStr,
    ty: vk::LayerSettingTypeEXT,
    value: [u8; 4],
}

impl Setting {
    fn raw(&self) -> vk::LayerSettingEXT<'_> {
        vk::LayerSettingEXT {
            p_layer_name: VALIDATION_LAYER.as_ptr(),
            p_setting_name: self.name.as_ptr(),
            ty: self.ty,
            value_count: 1,
            p_values: self.value.as_ptr().cast(),
            ..Default::default()
        }
    }
}

fn settings(config: &Config) -> Vec<Setting> {
    let switch = |name, on: bool| Setting {
        name,
        ty: vk::LayerSettingTypeEXT::BOOL32,
        value: vk::Bool32::from(on).to_ne_bytes(),
    };
    let mut all = Vec::new();
    if config.validation >= 1 {
        all.push(switch(c"validate_sync", true));
    }
    if config.debug_printf {
        all.push(switch(c"printf_enable", true));
        all.push(switch(c"printf_to_stdout", false));
        all.push(Setting {
            name: c"printf_buffer_size",
            ty: vk::LayerSettingTypeEXT::UINT32,
            value: PRINTF_BYTES.to_ne_bytes(),
        });
    }
    all
}

struct ValidationLayer {
    extensions: Vec<vk::ExtensionProperties>,
}

impl ValidationLayer {
    /// `None`, with a warning, if the layer is not installed.
    fn find(entry: &ash::Entry, config: &Config) -> Option<Self> {
        // SAFETY: no preconditions beyond a loaded entry.
        let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
        let Some(found) = layers.iter().find(|l| l.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) else {
            const MISSING: &str = "VK_LAYER_KHRONOS_validation is not installed (Debian, Ubuntu: \
                                   vulkan-validationlayers); the layer stays off";
            if config.validation >= 1 {
                log!(Warn, "REVAMP_VALIDATION is set, but {MISSING}");
            }
            // Logged as an error, because the user asked for this output.
            if config.debug_printf {
                log!(Error, "REVAMP_DEBUG_PRINTF is set, but {MISSING}: the output of kernels is lost");
            }
            return None;
        };
        log!(Info, "VK_LAYER_KHRONOS_validation {}", version_text(found.spec_version));
        // SAFETY: as above; the layer was enumerated.
        let extensions =
            unsafe { entry.enumerate_instance_extension_properties(Some(VALIDATION_LAYER)) }.unwrap_or_default();
        Some(Self { extensions })
    }
}

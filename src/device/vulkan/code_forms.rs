//! The forms of kernels for which a device's driver generates faster machine code.

use crate::kernel::KernelForm;
use ash::vk;

/// Drivers that prefer different forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preferences {
    /// NVIDIA's driver. Its code is faster for loops that the kernel compiler has unrolled.
    Nvidia,
    /// llvmpipe. As for NVIDIA's driver, unrolled loops are faster.
    Llvmpipe,
    /// Mesa's driver for AMD GPUs. It unrolls loops, and reads memory faster through an address than through a descriptor.
    Radv,
    /// Other drivers. Compilers of other languages leave loops to them, so they unroll loops as far as it pays off on their hardware.
    Other,
}

impl Preferences {
    pub(super) fn of(driver: vk::DriverId) -> Self {
        match driver {
            vk::DriverId::NVIDIA_PROPRIETARY => Self::Nvidia,
            vk::DriverId::MESA_LLVMPIPE => Self::Llvmpipe,
            vk::DriverId::MESA_RADV => Self::Radv,
            _ => Self::Other,
        }
    }

    pub(super) fn kernel_form(self) -> KernelForm {
        KernelForm { rolled_loops: matches!(self, Self::Radv | Self::Other), arguments_by_address: self == Self::Radv }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_decides_which_loops_are_unrolled() {
        let form = |driver| Preferences::of(driver).kernel_form();
        for driver in [vk::DriverId::NVIDIA_PROPRIETARY, vk::DriverId::MESA_LLVMPIPE] {
            assert_eq!(form(driver), KernelForm::default());
        }
        for driver in [vk::DriverId::AMD_PROPRIETARY, vk::DriverId::INTEL_OPEN_SOURCE_MESA, vk::DriverId::MOLTENVK] {
            assert_eq!(form(driver), KernelForm { rolled_loops: true, arguments_by_address: false });
        }
        let radv = KernelForm { rolled_loops: true, arguments_by_address: true };
        assert_eq!(form(vk::DriverId::MESA_RADV), radv);
    }
}

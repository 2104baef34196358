//! Choosing the device: what is compiled in, what is available, and the message when it is not.

use candle_core::Device;

use crate::error::EncoderError;
use crate::kernels::has_byte_products;
use crate::options::{DeviceChoice, Precision, PrecisionChoice};

/// A working device, its numerical precision, and a one-line note when it is not the device a user would
/// expect.
pub(crate) struct WorkingDevice {
    pub(crate) device: Device,
    pub(crate) precision: Precision,
    pub(crate) note: Option<String>,
}

/// Name of a device in results: cpu, cuda or metal.
pub(crate) fn name(device: &Device) -> &'static str {
    if device.is_cuda() {
        "cuda"
    } else if device.is_metal() {
        "metal"
    } else {
        "cpu"
    }
}

/// Name of the device that [`DeviceChoice::Auto`] selects on this machine: cpu, cuda or metal.
#[must_use]
pub fn auto_device() -> &'static str {
    name(&first_that_works().0)
}

/// Explains in a few words why [`DeviceChoice::Auto`] selects its device on this machine.
#[must_use]
pub fn auto_device_reason() -> String {
    let built_in = |choice| if compiled_in(choice) { Some(choice.to_string()) } else { None };
    let gpus: Vec<String> =
        [DeviceChoice::Cuda, DeviceChoice::Metal].into_iter().filter_map(built_in).collect();
    match first_that_works() {
        _ if gpus.is_empty() => "auto: this build has no GPU support".to_owned(),
        (_, Some(note)) => format!("auto: {note}"),
        (device, None) => format!("auto: {} works here", name(&device)),
    }
}

pub(crate) fn choose(
    choice: DeviceChoice,
    precision: PrecisionChoice,
) -> Result<WorkingDevice, EncoderError> {
    let int8 = precision == PrecisionChoice::Exactly(Precision::Int8);
    let (device, note) = match choice {
        DeviceChoice::Cpu => (Device::Cpu, None),
        DeviceChoice::Auto if int8 => (Device::Cpu, None),
        DeviceChoice::Cuda | DeviceChoice::Metal if int8 => {
            let reason =
                format!("it is computed on the CPU only, not on {choice}: choose half or fp32 there");
            return Err(EncoderError::Precision { asked: precision.to_string(), reason });
        }
        DeviceChoice::Cuda | DeviceChoice::Metal => {
            let device =
                open(choice).map_err(|reason| EncoderError::Device { asked: choice.to_string(), reason })?;
            (device, None)
        }
        DeviceChoice::Auto => first_that_works(),
    };
    let precision = match precision {
        PrecisionChoice::Exactly(precision) => precision,
        PrecisionChoice::Fast => fastest(&device, has_byte_products()),
    };
    Ok(WorkingDevice { device, precision, note })
}

/// Returns the fastest precision of a device. 8-bit products are faster only where the CPU has an
/// instruction for them: without one they are computed in 32-bit floats of rounded numbers, slower and less
/// exact than fp32 itself.
fn fastest(device: &Device, has_byte_products: bool) -> Precision {
    match (device.is_cpu(), has_byte_products) {
        (true, true) => Precision::Int8,
        (true, false) => Precision::Fp32,
        (false, _) => Precision::Half,
    }
}

fn first_that_works() -> (Device, Option<String>) {
    let mut failures = Vec::new();
    for choice in [DeviceChoice::Cuda, DeviceChoice::Metal] {
        if !compiled_in(choice) {
            continue;
        }
        match open(choice) {
            Ok(device) => return (device, None),
            Err(reason) => failures.push(format!("{choice}: {reason}")),
        }
    }
    let note = (!failures.is_empty()).then(|| format!("computing on the CPU; {}", failures.join("; ")));
    (Device::Cpu, note)
}

fn compiled_in(choice: DeviceChoice) -> bool {
    match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => true,
        DeviceChoice::Cuda => cfg!(feature = "cuda"),
        DeviceChoice::Metal => cfg!(feature = "metal"),
    }
}

fn open(choice: DeviceChoice) -> Result<Device, String> {
    if !compiled_in(choice) {
        return Err(format!(
            "this program was built without it: build with `--features {choice}`, or choose cpu or auto"
        ));
    }
    let opened = match choice {
        DeviceChoice::Cuda => Device::new_cuda(0),
        DeviceChoice::Metal => Device::new_metal(0),
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(Device::Cpu),
    };
    opened.map_err(|e| {
        format!("not usable on this machine ({}): choose cpu or auto", first_line(&e.to_string()))
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(any(feature = "cuda", feature = "metal")))]
    fn build_without_gpu_support_is_reported() {
        assert_eq!(auto_device(), "cpu");
        assert_eq!(auto_device_reason(), "auto: this build has no GPU support");
    }

    #[test]
    fn cpu_is_always_available() {
        let chosen = choose(DeviceChoice::Cpu, PrecisionChoice::default()).unwrap();
        assert_eq!(name(&chosen.device), "cpu");
        assert!(chosen.note.is_none());
    }

    #[test]
    fn fast_is_int8_only_where_the_cpu_multiplies_bytes() {
        assert_eq!(fastest(&Device::Cpu, true), Precision::Int8);
        assert_eq!(fastest(&Device::Cpu, false), Precision::Fp32);
        let fast = choose(DeviceChoice::Cpu, PrecisionChoice::Fast).unwrap();
        assert_eq!(fast.precision, fastest(&Device::Cpu, has_byte_products()));
    }

    #[test]
    fn int8_requires_the_cpu() {
        let int8 = PrecisionChoice::Exactly(Precision::Int8);
        assert!(choose(DeviceChoice::Auto, int8).unwrap().device.is_cpu());
        let error = choose(DeviceChoice::Cuda, int8).err().unwrap();
        assert_eq!(error.code(), "encoder-precision");
    }

    #[test]
    fn auto_falls_back_to_the_cpu_with_a_reason() {
        let chosen = choose(DeviceChoice::Auto, PrecisionChoice::default()).unwrap();
        let compiled = compiled_in(DeviceChoice::Cuda) || compiled_in(DeviceChoice::Metal);
        assert_eq!(chosen.note.is_some(), compiled && chosen.device.is_cpu());
    }

    #[test]
    #[cfg(not(feature = "cuda"))]
    fn device_not_compiled_in_is_refused() {
        let error = choose(DeviceChoice::Cuda, PrecisionChoice::default()).err().unwrap();
        assert_eq!(error.code(), "encoder-device");
        assert!(error.to_string().contains("--features cuda"), "{error}");
    }
}

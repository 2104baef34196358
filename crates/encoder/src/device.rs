//! Choosing the device: what is compiled in, what is there, and what to say when it is not.

use candle_core::Device;

use crate::{DeviceChoice, EncoderError};

/// A device that works, and one line for people when it is not the one they would expect.
pub(crate) struct Chosen {
    pub(crate) device: Device,
    pub(crate) note: Option<String>,
}

/// The name that results record: cpu, cuda or metal.
pub(crate) fn name(device: &Device) -> &'static str {
    if device.is_cuda() {
        "cuda"
    } else if device.is_metal() {
        "metal"
    } else {
        "cpu"
    }
}

/// The name of the device that [`DeviceChoice::Auto`] takes on this machine: cpu, cuda or metal.
#[must_use]
pub fn auto_device() -> &'static str {
    name(&first_that_works().device)
}

pub(crate) fn choose(choice: DeviceChoice) -> Result<Chosen, EncoderError> {
    match choice {
        DeviceChoice::Cpu => Ok(Chosen { device: Device::Cpu, note: None }),
        DeviceChoice::Cuda | DeviceChoice::Metal => {
            let device =
                open(choice).map_err(|reason| EncoderError::Device { asked: choice.to_string(), reason })?;
            Ok(Chosen { device, note: None })
        }
        DeviceChoice::Auto => Ok(first_that_works()),
    }
}

fn first_that_works() -> Chosen {
    let mut failures = Vec::new();
    for choice in [DeviceChoice::Cuda, DeviceChoice::Metal] {
        if !compiled_in(choice) {
            continue;
        }
        match open(choice) {
            Ok(device) => return Chosen { device, note: None },
            Err(reason) => failures.push(format!("{choice}: {reason}")),
        }
    }
    let note = (!failures.is_empty()).then(|| format!("computing on the CPU; {}", failures.join("; ")));
    Chosen { device: Device::Cpu, note }
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
    fn cpu_is_always_there() {
        let chosen = choose(DeviceChoice::Cpu).unwrap();
        assert_eq!(name(&chosen.device), "cpu");
        assert!(chosen.note.is_none());
    }

    #[test]
    fn auto_never_fails_and_says_why_it_fell_back() {
        let chosen = choose(DeviceChoice::Auto).unwrap();
        let compiled = compiled_in(DeviceChoice::Cuda) || compiled_in(DeviceChoice::Metal);
        assert_eq!(chosen.note.is_some(), compiled && chosen.device.is_cpu());
    }

    #[test]
    #[cfg(not(feature = "cuda"))]
    fn a_device_that_is_not_compiled_in_says_so() {
        let error = choose(DeviceChoice::Cuda).err().unwrap();
        assert_eq!(error.code(), "encoder-device");
        assert!(error.to_string().contains("--features cuda"), "{error}");
    }
}

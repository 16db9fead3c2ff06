//! Where tensors live: the one place to change for another backend.

use burn::tensor::Device;

/// The device of all tensors. Parallelism is ours (batches are cut into shards, one thread each), so that results
/// do not depend on the number of cores.
pub(crate) fn device() -> Device {
    Device::flex()
}

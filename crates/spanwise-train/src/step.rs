//! One training step: loss and gradients of a batch, computed in shards.
//!
//! Each shard runs in its own thread: forward pass, charts, backward pass. The number of shards is fixed, so that the
//! order of floating-point sums, and with it the result, does not depend on the number of cores.

use spanwise_lang::Terms;
use spanwise_model::{Family, Objective, Shard, ShardGradients, StepTime, Task};
use spanwise_nn::{Gradients, Noise, sum};

/// The number of shards of a batch.
pub(crate) const N_SHARDS: usize = 2;

/// The settings that all steps of a run share.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) objective: Objective,
    pub(crate) dropout: f32,
    /// Whether only the encoder is timed; see [`Shard::encoder_only`].
    pub(crate) encoder_only: bool,
}

/// The result of a step.
pub(crate) struct StepResult {
    pub(crate) gradients: Gradients,
    /// The sum of the unweighted losses of all pairs that contributed.
    pub(crate) loss: f64,
    pub(crate) n_learned: usize,
    /// Means over the shards.
    pub(crate) time: StepTime,
}

impl Step {
    /// Computes loss and gradients of a batch. `seed` determines the dropout masks.
    pub(crate) fn run(self, family: &dyn Family, terms: &Terms, tasks: &[Task<'_>], seed: u64) -> StepResult {
        // Alternating: neighbors have similar lengths, so the shards take about the same time.
        let shards: Vec<Vec<Task<'_>>> = (0..N_SHARDS)
            .map(|shard| tasks.iter().copied().skip(shard).step_by(N_SHARDS).collect())
            .collect();
        let scale = 1.0 / tasks.len().max(1) as f32;
        let gradients = |(at, tasks): (usize, &Vec<Task<'_>>)| {
            let seed = seed.wrapping_mul(N_SHARDS as u64).wrapping_add(at as u64);
            family.gradients(&Shard {
                terms,
                tasks,
                objective: self.objective,
                noise: Noise { dropout: self.dropout, seed },
                scale,
                encoder_only: self.encoder_only,
            })
        };
        let outcomes: Vec<ShardGradients> = std::thread::scope(|scope| {
            let gradients = &gradients;
            let threads: Vec<_> =
                shards.iter().enumerate().map(|shard| scope.spawn(move || gradients(shard))).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, ShardGradients>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let (mut loss, mut n_learned, mut time) = (0.0, 0, StepTime::default());
        let mut gradients = Vec::with_capacity(N_SHARDS);
        for outcome in outcomes {
            loss += outcome.loss;
            n_learned += outcome.n_learned;
            time.add_share(&outcome.time, N_SHARDS);
            gradients.push(outcome.gradients);
        }
        StepResult { gradients: sum(gradients), loss, n_learned, time }
    }
}

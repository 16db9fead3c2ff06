//! One training step: a batch in shards, each with its forward pass, its charts and its backward pass.
//!
//! The number of shards is always the same, whatever the machine has, so that sums do not depend on it. Each shard runs
//! its charts between its own forward and backward pass, so that no core waits.

use spanwise_lang::Terms;
use spanwise_model::{Family, Objective, Shard, ShardGradients, StepTime, Task};
use spanwise_nn::{Gradients, Noise, sum};

/// Shards of a batch.
pub(crate) const N_SHARDS: usize = 2;

/// What all steps of a run have in common.
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
    /// Computes loss and gradients of a batch. `seed` decides what is dropped.
    pub(crate) fn run(self, family: &dyn Family, terms: &Terms, tasks: &[Task<'_>], seed: u64) -> StepResult {
        // Every other one: neighbors are of similar length, so both shards take the same time.
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

//! The models by name, and the thread that loads them again when they change.
//!
//! A model is loaded beside the one that serves and replaces it in one step; work that has begun ends with the model it
//! began with. A model that cannot be loaded changes nothing but its `load_error`.

use crate::engine::{Engine, ModelInfo, Source, Stamp};
use crate::event::{Event, Listener};
use crate::queue::{Job, Pace, Work};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

/// A model that serves.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub engine: Arc<dyn Engine>,
    /// How fast the engine is.
    pub pace: Arc<Pace>,
    pub info: Arc<ModelInfo>,
    /// 1 for the first, one more each time it is loaded again.
    pub generation: u64,
    pub at: SystemTime,
}

impl Loaded {
    /// Work for the engine.
    pub(crate) fn job(&self, work: Work) -> Job {
        Job { engine: Arc::clone(&self.engine), pace: Arc::clone(&self.pace), work }
    }
}

/// A model that was loaded and does not serve yet.
struct Fresh {
    engine: Arc<dyn Engine>,
    info: Arc<ModelInfo>,
    warnings: Vec<String>,
}

/// A model by name.
pub(crate) struct Slot {
    pub name: String,
    source: Box<dyn Source>,
    current: RwLock<Option<Loaded>>,
    /// Why the last load failed; `None` when it did not.
    problem: RwLock<Option<String>>,
}

impl Slot {
    /// The model that serves now.
    pub(crate) fn current(&self) -> Option<Loaded> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the last load failed.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn load(&self, listener: &Listener) -> Result<(), String> {
        let start = Instant::now();
        let loaded = self.try_load();
        let mut problem = self.problem.write().unwrap_or_else(PoisonError::into_inner);
        match loaded {
            Ok(Fresh { engine, info, warnings }) => {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                let generation = current.as_ref().map_or(1, |old| old.generation + 1);
                *current =
                    Some(Loaded { engine, pace: Arc::default(), info, generation, at: SystemTime::now() });
                *problem = None;
                listener(Event::Loaded { model: self.name.clone(), generation, took: start.elapsed() });
                for text in warnings {
                    listener(Event::LoadWarning { model: self.name.clone(), text });
                }
                Ok(())
            }
            Err(reason) => {
                *problem = Some(reason.clone());
                let kept = self.current().is_some();
                listener(Event::LoadFailed { model: self.name.clone(), reason: reason.clone(), kept });
                Err(reason)
            }
        }
    }
}

impl Slot {
    /// Loads and describes the model. A loader that panics has failed, but models are loaded again as before.
    fn try_load(&self) -> Result<Fresh, String> {
        let load = || {
            let engine = self.source.load()?;
            let (info, warnings) = (Arc::new(engine.describe()), engine.warnings());
            Ok(Fresh { engine, info, warnings })
        };
        catch_unwind(AssertUnwindSafe(load)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown panic");
            Err(format!("the loader failed, which is a defect of this program: {text}"))
        })
    }
}

/// Requests to the thread that loads models.
#[derive(Default)]
struct Orders {
    reload: bool,
    stop: bool,
}

/// All models; the first serves requests that name none.
pub(crate) struct Models {
    pub slots: Vec<Slot>,
    orders: Mutex<Orders>,
    wake: Condvar,
}

impl Models {
    pub(crate) fn new(sources: Vec<(String, Box<dyn Source>)>) -> Self {
        let slot =
            |(name, source)| Slot { name, source, current: RwLock::default(), problem: RwLock::default() };
        Self {
            slots: sources.into_iter().map(slot).collect(),
            orders: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// The model of a name, or the first.
    pub(crate) fn find(&self, name: Option<&str>) -> Option<&Slot> {
        match name {
            Some(name) => self.slots.iter().find(|slot| slot.name == name),
            None => self.slots.first(),
        }
    }

    /// Whether every model has been loaded.
    pub(crate) fn are_loaded(&self) -> bool {
        self.slots.iter().all(|slot| slot.current().is_some())
    }

    /// Requests that all models are loaded again.
    pub(crate) fn reload(&self) {
        self.order(|orders| orders.reload = true);
    }

    /// Ends the thread that loads models.
    pub(crate) fn stop(&self) {
        self.order(|orders| orders.stop = true);
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.orders.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    /// Loads all models, and again those that change, until [`Models::stop`]. Runs on a thread of its own.
    ///
    /// # Errors
    /// A model that could not be loaded the first time.
    pub(crate) fn keep(&self, poll: Duration, listener: &Listener) -> Result<(), String> {
        // The stamp is taken before the load, so that a change during the load is noticed afterwards.
        let mut stamps: Vec<Option<Stamp>> = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            stamps.push(slot.source.stamp(false));
            slot.load(listener)?;
        }
        loop {
            let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut orders, _) = self
                .wake
                .wait_timeout_while(orders, poll, |orders| !orders.reload && !orders.stop)
                .unwrap_or_else(PoisonError::into_inner);
            if orders.stop {
                return Ok(());
            }
            let forced = std::mem::take(&mut orders.reload);
            drop(orders);
            for (slot, known) in self.slots.iter().zip(&mut stamps) {
                let stamp = slot.source.stamp(slot.problem().is_some());
                if forced || (stamp.is_some() && stamp != *known) {
                    let healthy = slot.source.stamp(false);
                    // The old model stays, and the failure has been reported as an event.
                    let failed = slot.load(listener).is_err();
                    *known = if failed { slot.source.stamp(true) } else { healthy };
                }
            }
        }
    }
}

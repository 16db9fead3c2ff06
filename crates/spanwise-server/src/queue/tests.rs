//! Tests of the queue without connections.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::engine::ModelInfo;

/// An engine that estimates a word at a fixed time.
struct Silent(Duration);

impl Engine for Silent {
    fn describe(&self) -> ModelInfo {
        ModelInfo::default()
    }
    fn parse(&self, _: &[Ask]) -> Vec<Reading> {
        Vec::new()
    }
    fn execute(&self, _: &str, _: Option<&Value>) -> Result<Executed, Refusal> {
        Err(Refusal::NoExecutor)
    }
    fn check(&self, program: &str) -> Result<String, Refusal> {
        Ok(program.to_owned())
    }
    fn cost(&self, ask: &Ask) -> Duration {
        self.0 * ask.utterance.parse().unwrap()
    }
}

type Receiver = oneshot::Receiver<Result<Reading, Failed>>;

const ME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

fn silent() -> Arc<dyn Engine> {
    Arc::new(Silent(Duration::ZERO))
}

/// A pace of a microsecond a word.
fn fast() -> Arc<Pace> {
    let pace = Pace::default();
    (0..40).for_each(|_| pace.learn(1000, Duration::from_millis(1)));
    Arc::new(pace)
}

fn job_at(engine: &Arc<dyn Engine>, pace: &Arc<Pace>, n_words: usize, k: usize) -> (Job, Receiver) {
    let (reply, receiver) = oneshot::channel();
    let ask = Ask { k, ..Ask::new(n_words.to_string()) };
    let work = Work::Parse { ask, n_words, reply };
    (Job { engine: Arc::clone(engine), pace: Arc::clone(pace), work }, receiver)
}

fn job(engine: &Arc<dyn Engine>, n_words: usize, k: usize) -> (Job, Receiver) {
    job_at(engine, &fast(), n_words, k)
}

fn jobs(engine: &Arc<dyn Engine>, lengths: impl IntoIterator<Item = usize>) -> (Vec<Job>, Vec<Receiver>) {
    let pace = fast();
    lengths.into_iter().map(|n| job_at(engine, &pace, n, 0)).unzip()
}

fn execution() -> (Job, oneshot::Receiver<Execution>) {
    let (reply, receiver) = oneshot::channel();
    let work =
        Work::Execute { program: String::new(), context: None, waiting: engine::Waiting::default(), reply };
    (Job { engine: silent(), pace: fast(), work }, receiver)
}

fn lengths(taken: &Taken<'_>) -> Vec<usize> {
    let length = |job: &Job| match job.work {
        Work::Parse { n_words, .. } => n_words,
        Work::Execute { .. } | Work::Evaluate { .. } | Work::Check { .. } => 0,
    };
    taken.jobs.iter().map(length).collect()
}

#[test]
fn a_batch_is_the_oldest_job_with_those_nearest_in_length() {
    let queue = Queue::new(100, 3, 1);
    let (jobs, _receivers) = jobs(&silent(), [9, 2, 20, 8, 10, 21]);
    queue.submit(ME, jobs).unwrap();
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [9, 8, 10]);
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [2, 20]);
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [21]);
}

#[test]
fn jobs_of_other_models_or_other_options_never_share_a_batch() {
    let (one, two) = (silent(), silent());
    let queue = Queue::new(100, 10, 1);
    let (jobs, _receivers): (Vec<Job>, Vec<Receiver>) =
        [job(&one, 5, 0), job(&two, 6, 0), job(&one, 7, 1), job(&one, 8, 0)].into_iter().unzip();
    queue.submit(ME, jobs).unwrap();
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [5, 8]);
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [6]);
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [7]);
}

#[test]
fn waiting_jobs_are_shared_among_the_threads() {
    let queue = Queue::new(100, 32, 2);
    let (jobs, _receivers) = jobs(&silent(), [4; 10]);
    queue.submit(ME, jobs).unwrap();
    assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 5);
}

#[test]
fn a_full_queue_accepts_all_of_a_request_or_nothing() {
    let queue = Queue::new(3, 32, 1);
    let (first, _first) = jobs(&silent(), [4; 2]);
    queue.submit(ME, first).unwrap();
    let (second, _second) = jobs(&silent(), [4; 2]);
    assert_eq!(queue.submit(ME, second), Err(Rejected::Full));
    assert_eq!(queue.depth(), 2);
    queue.close();
    assert_eq!(queue.submit(ME, Vec::new()), Err(Rejected::Closed));
    assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 1, "waiting jobs are still done");
    assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 1);
    assert!(queue.take(Task::Parse).is_none());
}

#[test]
fn work_whose_client_has_left_is_not_done_and_takes_no_place() {
    let engine = silent();
    let queue = Queue::new(2, 32, 1);
    let (gone, receiver) = job(&engine, 1, 0);
    let (wanted, _receiver) = job(&engine, 2, 0);
    queue.submit(ME, vec![gone, wanted]).unwrap();
    drop(receiver);
    let (late, _receiver) = job(&engine, 3, 0);
    queue.submit(ME, vec![late]).unwrap();
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [2]);
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [3]);
}

#[test]
fn a_short_question_is_next_after_many_long_requests_of_the_same_or_of_another_client() {
    for client in [ME, OTHER] {
        let queue = Queue::new(2000, 32, 2);
        let engine = silent();
        let mut receivers = Vec::new();
        for _ in 0..4 {
            let (jobs, more) = jobs(&engine, [8; 256]);
            queue.submit(ME, jobs).unwrap();
            receivers.extend(more);
        }
        let running = [queue.take(Task::Parse).unwrap(), queue.take(Task::Parse).unwrap()];
        assert_eq!(running.map(|taken| taken.jobs.len()), [32, 32], "batches are full");
        let (short, _receiver) = job(&engine, 3, 0);
        queue.submit(client, vec![short]).unwrap();
        assert_eq!(lengths(&queue.take(Task::Parse).unwrap())[0], 3);
    }
}

#[test]
fn a_batch_is_bounded_by_its_cost() {
    let queue = Queue::new(2000, 32, 2);
    // Two milliseconds a word, as long as nothing was measured: six utterances of eight words take 96 ms.
    let pace = Arc::default();
    let engine = silent();
    let (jobs, _receivers): (Vec<Job>, Vec<Receiver>) = (0..64).map(|_| job_at(&engine, &pace, 8, 0)).unzip();
    queue.submit(ME, jobs).unwrap();
    assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 6);
    (0..40).for_each(|_| pace.learn(1000, Duration::from_millis(1)));
    assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 29, "its share of the rest");
    // Utterances that are long and cheap share batches too, according to their engine.
    let cheap: Arc<dyn Engine> = Arc::new(Silent(Duration::from_micros(500)));
    let queue = Queue::new(2000, 32, 2);
    let (jobs, _receivers) = self::jobs(&cheap, [50; 64]);
    queue.submit(ME, jobs).unwrap();
    assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 4);
}

#[test]
fn expensive_work_runs_alone_and_never_on_the_last_thread() {
    let engine: Arc<dyn Engine> = Arc::new(Silent(Duration::from_millis(5)));
    for workers in [1, 2, 3] {
        let queue = Queue::new(2000, 32, workers);
        let (jobs, _expensive) = jobs(&engine, [30, 31, 32, 33]);
        queue.submit(ME, jobs).unwrap();
        let slow: Vec<Taken<'_>> = (1..workers.max(2)).map(|_| queue.take(Task::Parse).unwrap()).collect();
        assert!(slow.iter().all(|taken| taken.jobs.len() == 1), "{workers}");
        let (cheap, _cheap) = self::jobs(&engine, [6, 7]);
        queue.submit(ME, cheap).unwrap();
        let mut cheap = Vec::new();
        while queue.depth() > 4 - slow.len() {
            cheap.extend(lengths(&queue.take(Task::Parse).unwrap()));
        }
        assert_eq!(cheap, [6, 7], "{workers}");
        drop(slow);
        assert_eq!(queue.take(Task::Parse).unwrap().jobs.len(), 1, "{workers}");
    }
}

#[test]
fn programs_are_evaluated_by_threads_of_their_own() {
    let queue = Queue::new(2000, 32, 2);
    let (programs, _programs): (Vec<Job>, Vec<_>) = (0..3).map(|_| execution()).unzip();
    queue.submit(ME, programs).unwrap();
    let (short, _receiver) = job(&silent(), 3, 0);
    queue.submit(ME, vec![short]).unwrap();
    let running = [queue.take(Task::Execute).unwrap(), queue.take(Task::Execute).unwrap()];
    assert_eq!(
        running.each_ref().map(lengths),
        [[0], [0]],
        "a slow program does not keep the next one waiting"
    );
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [3]);
    queue.close();
    assert!(queue.take(Task::Parse).is_none(), "only programs are left");
    assert_eq!(lengths(&queue.take(Task::Execute).unwrap()), [0]);
    assert!(queue.take(Task::Execute).is_none());
}

#[test]
fn threads_end_although_slow_work_was_the_last() {
    let queue = Arc::new(Queue::new(100, 32, 3));
    let (programs, _programs): (Vec<Job>, Vec<_>) = (0..6).map(|_| execution()).unzip();
    queue.submit(ME, programs).unwrap();
    let slow: Arc<dyn Engine> = Arc::new(Silent(Duration::from_secs(1)));
    let (slow, _receivers) = jobs(&slow, [30; 6]);
    queue.submit(ME, slow).unwrap();
    let threads = queue.start(&Arc::new(Metrics::new(0)), &(Arc::new(|_| {}) as Listener));
    queue.close();
    let start = Instant::now();
    while threads.iter().any(|thread| !thread.is_finished()) {
        assert!(start.elapsed() < Duration::from_secs(20), "a thread never ends");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(queue.depth(), 0);
}

#[test]
fn a_client_that_fills_the_queue_gives_way_to_one_with_less() {
    let queue = Queue::new(8, 32, 2);
    let (many, mut theirs) = jobs(&silent(), [4; 8]);
    queue.submit(OTHER, many).unwrap();
    let (one_more, _receivers) = jobs(&silent(), [4]);
    assert_eq!(queue.submit(OTHER, one_more), Err(Rejected::Full), "a client does not displace itself");
    let (mine, mut receivers) = jobs(&silent(), [4; 3]);
    queue.submit(ME, mine).unwrap();
    assert_eq!(queue.depth(), 8);
    let lost: Vec<bool> =
        theirs.iter_mut().map(|it| matches!(it.try_recv(), Ok(Err(Failed::Displaced)))).collect();
    assert_eq!(lost, [false, false, false, false, false, true, true, true], "the newest give way");
    assert!(receivers.iter_mut().all(|it| it.try_recv().is_err()), "mine wait");
    let (too_many, _too_many) = jobs(&silent(), [4; 2]);
    assert_eq!(queue.submit(ME, too_many), Err(Rejected::Full), "nobody gets more than its share this way");
}

#[test]
fn a_short_utterance_with_many_alternatives_is_estimated_and_runs_alone() {
    let queue = Queue::new(100, 32, 2);
    let engine: Arc<dyn Engine> = Arc::new(Silent(Duration::from_millis(20)));
    let (costly, _costly): (Vec<Job>, Vec<Receiver>) = (0..3).map(|_| job(&engine, 20, 100)).unzip();
    queue.submit(OTHER, costly).unwrap();
    let first = queue.take(Task::Parse).unwrap();
    assert!(first.is_slow && first.jobs.len() == 1);
    let (short, _short) = jobs(&silent(), [5]);
    queue.submit(ME, short).unwrap();
    assert_eq!(lengths(&queue.take(Task::Parse).unwrap()), [5], "the last thread is left to others");
}

#[test]
fn a_short_question_does_not_wait_for_the_estimates_of_long_ones() {
    let queue = Queue::new(100, 32, 2);
    let (engine, pace) = (silent(), fast());
    let (short, _short) = job_at(&engine, &pace, 5, 0);
    let (long, _long): (Vec<Job>, Vec<Receiver>) = (0..50).map(|_| job_at(&engine, &pace, 200, 0)).unzip();
    queue.submit(ME, vec![short]).unwrap();
    queue.submit(OTHER, long).unwrap();
    let taken = queue.take(Task::Parse).unwrap();
    assert_eq!(lengths(&taken), [5]);
    assert!(queue.lock().waiting.iter().all(|it| it.estimate.is_none()));
}

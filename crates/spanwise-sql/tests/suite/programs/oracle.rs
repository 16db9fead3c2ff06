//! Random programs in SQLite against a plain evaluator over the same rows.

use super::{MUSIC, Music, schema};
use rusqlite::Connection;
use spanwise_lang::{TermId, Terms};
use spanwise_reading::Answer;
use std::collections::{BTreeMap, BTreeSet};

/// A generator of numbers, the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A program of a type.
fn program(random: &mut Random, ty: &str, depth: usize) -> String {
    let tracks = |random: &mut Random| program(random, "Tracks", depth - 1);
    if depth == 0 {
        return match ty {
            "Tracks" => "tracks".to_owned(),
            "Albums" => "albums".to_owned(),
            "Prices" => "price(tracks)".to_owned(),
            _ => "count(tracks)".to_owned(),
        };
    }
    let artists = ["artist('Ann')", "artist('O''Neil')", "artist('Çelik')", "artist('nobody')"];
    match ty {
        "Tracks" => match random.below(10) {
            0 => format!("by({}, {})", random.of(&artists), tracks(random)),
            1 => format!("longer({}, time({}, s))", tracks(random), random.of(&["0", "120.5", "399"])),
            2 => format!("named({}, text('Title {}'))", tracks(random), random.below(5)),
            3 => format!("on({}, album({}))", tracks(random), random.below(7)),
            4 => format!("on({})", tracks(random)),
            5 => format!("top({}, {})", random.below(9), program(random, "Prices", depth - 1)),
            6 => format!("tracks_of({})", program(random, "Albums", depth - 1)),
            7 => format!("without({}, {})", tracks(random), tracks(random)),
            8 => format!("either({}, {})", tracks(random), tracks(random)),
            _ => {
                let filter = |random: &mut Random| match random.below(3) {
                    0 => "cheap".to_owned(),
                    1 => "long".to_owned(),
                    _ => format!("sung({})", random.of(&artists)),
                };
                let filters: Vec<String> = (0..random.below(3) + 1).map(|_| filter(random)).collect();
                match filters.as_slice() {
                    [only] => format!("matching({}, {only})", tracks(random)),
                    many => format!("matching({}, all({}))", tracks(random), many.join(", ")),
                }
            }
        },
        "Albums" => match random.below(4) {
            0 => format!("albums_of({})", tracks(random)),
            1 => format!(
                "since({}, day('20{:02}-05-01'))",
                program(random, "Albums", depth - 1),
                random.below(20)
            ),
            2 => {
                let albums = |random: &mut Random| program(random, "Albums", depth - 1);
                format!("without({}, {})", albums(random), albums(random))
            }
            _ => "albums".to_owned(),
        },
        "Prices" => format!("{}({})", random.of(&["price", "ms"]), tracks(random)),
        _ => match random.below(3) {
            0 => format!("count({})", tracks(random)),
            1 => format!("count({})", program(random, "Albums", depth - 1)),
            _ => format!("total({})", program(random, "Prices", depth - 1)),
        },
    }
}

/// What a program means, without a database.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Keys(BTreeSet<i64>),
    Values(BTreeMap<i64, Option<i64>>),
    Ranked(Vec<i64>),
    Number(i64),
}

impl Value {
    fn keys(&self) -> BTreeSet<i64> {
        match self {
            Self::Keys(keys) => keys.clone(),
            Self::Values(values) => values.keys().copied().collect(),
            Self::Ranked(keys) => keys.iter().copied().collect(),
            Self::Number(number) => BTreeSet::from([*number]),
        }
    }
}

struct Track {
    id: i64,
    title: String,
    album: Option<i64>,
    ms: i64,
    price: Option<i64>,
}

struct Rows {
    tracks: Vec<Track>,
    /// Artist and day of each album.
    albums: BTreeMap<i64, (i64, String)>,
    artists: BTreeMap<String, i64>,
}

impl Rows {
    fn read(music: &Music) -> Self {
        let connection = Connection::open(music.directory.path().join("music.db")).unwrap();
        let mut tracks = connection.prepare("select id, title, album_id, ms, price from track").unwrap();
        let track = |row: &rusqlite::Row<'_>| {
            let (id, title, album) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Track { id, title, album, ms: row.get(3)?, price: row.get(4)? })
        };
        let tracks = tracks.query_map([], track).unwrap().map(Result::unwrap).collect();
        let mut albums = connection.prepare("select id, artist_id, released from album").unwrap();
        let album = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
        let albums = albums.query_map([], album).unwrap().map(Result::unwrap).collect();
        let mut artists = connection.prepare("select name, id from artist").unwrap();
        let artist = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let artists = artists.query_map([], artist).unwrap().map(Result::unwrap).collect();
        Self { tracks, albums, artists }
    }

    fn keep(&self, from: &Value, is_kept: impl Fn(&Track) -> bool) -> Value {
        let from = from.keys();
        let kept = self.tracks.iter().filter(|track| from.contains(&track.id) && is_kept(track));
        Value::Keys(kept.map(|track| track.id).collect())
    }

    fn is_by(&self, track: &Track, artist: Option<i64>) -> bool {
        let of_album = track.album.and_then(|album| self.albums.get(&album)).map(|(artist, _)| *artist);
        of_album.is_some() && of_album == artist
    }

    fn evaluate(&self, terms: &Terms, term: TermId) -> Value {
        let args = terms.args(term);
        let arg = |at: usize| self.evaluate(terms, args[at]);
        let text = |at: usize, inner: usize| terms.head_text(terms.args(args[at])[inner]).to_owned();
        let artist = |term: TermId| self.artists.get(terms.head_text(terms.args(term)[0])).copied();
        match terms.head_text(term) {
            "tracks" => Value::Keys(self.tracks.iter().map(|track| track.id).collect()),
            "albums" => Value::Keys(self.albums.keys().copied().collect()),
            "by" => {
                let artist = artist(args[0]);
                self.keep(&arg(1), |track| self.is_by(track, artist))
            }
            "longer" => {
                let seconds: f64 = text(1, 0).parse().unwrap();
                self.keep(&arg(0), |track| track.ms as f64 > seconds * 1000.0)
            }
            "named" => {
                let title = text(1, 0);
                self.keep(&arg(0), |track| track.title == title)
            }
            "on" if args.len() == 1 => self.keep(&arg(0), |track| track.album.is_none()),
            "on" => {
                let album: i64 = text(1, 0).parse().unwrap();
                self.keep(&arg(0), |track| track.album == Some(album))
            }
            "since" => {
                let (from, day) = (arg(0).keys(), text(1, 0));
                let late =
                    self.albums.iter().filter(|(id, (_, released))| from.contains(id) && *released >= day);
                Value::Keys(late.map(|(&id, _)| id).collect())
            }
            name @ ("price" | "ms") => {
                let from = arg(0).keys();
                let value = |track: &Track| if name == "ms" { Some(track.ms) } else { track.price };
                let of = self.tracks.iter().filter(|track| from.contains(&track.id));
                Value::Values(of.map(|track| (track.id, value(track))).collect())
            }
            "top" => {
                let Value::Values(values) = arg(1) else { panic!("values") };
                let mut pairs: Vec<(i64, i64)> =
                    values.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
                pairs.sort_by_key(|&(key, value)| (-value, key));
                pairs.truncate(terms.head_text(args[0]).parse().unwrap());
                Value::Ranked(pairs.into_iter().map(|(key, _)| key).collect())
            }
            "total" => {
                let Value::Values(values) = arg(0) else { panic!("values") };
                Value::Number(values.into_values().flatten().sum())
            }
            "count" => Value::Number(arg(0).keys().len() as i64),
            "albums_of" => {
                let from = arg(0).keys();
                let of = self.tracks.iter().filter(|track| from.contains(&track.id));
                Value::Keys(of.filter_map(|track| track.album).collect())
            }
            "tracks_of" => {
                let from = arg(0).keys();
                let on = self.tracks.iter().filter(|track| track.album.is_some_and(|it| from.contains(&it)));
                Value::Keys(on.map(|track| track.id).collect())
            }
            "without" => Value::Keys(&arg(0).keys() - &arg(1).keys()),
            "either" => Value::Keys(&arg(0).keys() | &arg(1).keys()),
            "cheap" => self.keep(&self.all(), |track| track.price.is_some_and(|price| price < 100)),
            "long" => self.keep(&self.all(), |track| track.ms >= 200_000),
            "sung" => {
                let artist = artist(args[0]);
                self.keep(&self.all(), |track| self.is_by(track, artist))
            }
            "matching" => Value::Keys(&arg(0).keys() & &arg(1).keys()),
            "all" => {
                let sets = args.iter().map(|&arg| self.evaluate(terms, arg).keys());
                Value::Keys(sets.reduce(|a, b| &a & &b).unwrap())
            }
            other => panic!("what is {other}?"),
        }
    }

    fn all(&self) -> Value {
        Value::Keys(self.tracks.iter().map(|track| track.id).collect())
    }

    /// The answer that a value should have.
    fn shown(&self, value: &Value, ty: &str) -> Vec<Vec<String>> {
        let title = |id: &i64| self.tracks.iter().find(|track| track.id == *id).map(|it| it.title.clone());
        let track = |id: &i64| title(id).map(|title| vec![id.to_string(), title]);
        match (value, ty) {
            (Value::Keys(keys), "Albums") => {
                // In the order of `[show]`: the newest first.
                let known = keys.iter().filter_map(|id| Some((self.albums.get(id)?, *id)));
                let mut rows: Vec<_> = known.map(|((_, released), id)| (released.clone(), id)).collect();
                rows.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
                rows.into_iter().map(|(_, id)| vec![format!("Album {id}")]).collect()
            }
            (Value::Keys(keys), _) => keys.iter().filter_map(track).collect(),
            (Value::Ranked(keys), _) => keys.iter().filter_map(track).collect(),
            (Value::Values(values), _) => {
                let shown = |value: &Option<i64>| value.map_or("null".to_owned(), |value| value.to_string());
                values.iter().map(|(key, value)| vec![key.to_string(), shown(value)]).collect()
            }
            (Value::Number(number), _) => vec![vec![number.to_string()]],
        }
    }
}

/// The rows of an answer as text.
fn rows(answer: &Answer) -> Vec<Vec<String>> {
    let cell = |answer: &Answer| match answer {
        Answer::Null => "null".to_owned(),
        other => other.to_string(),
    };
    match answer {
        Answer::Table { rows, .. } => rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        Answer::List(items) => items.iter().map(|item| vec![cell(item)]).collect(),
        other => vec![vec![cell(other)]],
    }
}

/// Compares so many random programs.
fn compare(music: &Music, n: usize) {
    let known = Rows::read(music);
    let mut random = Random(7);
    let (mut n_empty, mut n_ranked, mut longest) = (0, 0, 0);
    for at in 0..n {
        let ty = ["Tracks", "Albums", "Number", "Prices"][at % 4];
        let depth = random.below(6);
        let text = program(&mut random, ty, depth);
        let (terms, term) = music.read(&text);
        let expected = known.evaluate(&terms, term);
        let found = music.run(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!(rows(&found.answer), known.shown(&expected, ty), "{text}");
        n_empty += usize::from(found.is_empty);
        n_ranked += usize::from(matches!(expected, Value::Ranked(_)));
        longest = longest.max(terms.size(term));
    }
    assert!(n_empty < n / 2 && n_ranked > n / 200 && longest > 30, "{n_empty}, {n_ranked}, {longest}");
}

#[test]
fn random_programs_mean_in_sqlite_what_they_mean_without_it() {
    compare(&Music::new(MUSIC, &schema(60)), 1_500);
}

#[test]
fn random_programs_mean_in_postgresql_what_they_mean_without_it() {
    if let Some(music) = Music::on_postgres(MUSIC, &schema(60)) {
        compare(&music, 400);
    }
}

//! Programs of a small domain in SQLite.

mod answers;
mod checks;
mod hostile;
mod oracle;
mod statements;

use rusqlite::Connection;
use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_sql::database::Stop;
use spanwise_sql::executor::{Found, SqlError, SqlExecutor};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Tracks on albums of artists. Some tracks have no album and some have no price.
pub(super) const MUSIC: &str = r#"
name = "music"
types = ["Tracks, Albums", "Artist", "Album", "Duration", "Count", "Number", "Filter < Filters", "Filters", "Prices", "Text", "Date"]
root = { types = ["Tracks", "Albums", "Number", "Prices"] }

[executor]
sql = { database = "sqlite:music.db", timeout = "5 s", rows = 1000 }

[constants]
tracks = { type = "Tracks", sql = "select id from track" }
albums = { type = "Albums", sql = "select id from album" }
by = { type = "Artist, Tracks -> Tracks", sql = "select t.id from track t join album a on a.id = t.album_id where t.id in ({2}) and a.artist_id in ({1})" }
longer = { type = "Tracks, Duration -> Tracks", sql = "select id from track where id in ({1}) and ms > {2:number} * 1000" }
named = { type = "Tracks, Text -> Tracks", sql = "select id from track where id in ({1}) and title = {2:value}" }
on = { type = "Tracks, Album? -> Tracks", sql = "select id from track where id in ({1}){?2: and album_id = {2:name}}{!2: and album_id is null}" }
since = { type = "Albums, Date -> Albums", sql = "select id from album where id in ({1}) and released >= {2:value}" }
price = { type = "Tracks -> Prices", sql = { value = "select id, price from track where id in ({1})" } }
ms = { type = "Tracks -> Prices", sql = { value = "select id, ms from track where id in ({1})" } }
top = { type = "Count, Prices -> Tracks", sql = { rank = "select key, row_number() over (order by value desc, key) from ({2:value}) as v where value is not null order by value desc, key limit {1:value}" } }
total = { type = "Prices -> Number", sql = "select coalesce(sum(value), 0) from ({1:value}) as v" }
count = { type = ["Tracks -> Number", "Albums -> Number"], sql = ["select count(distinct key) from ({1}) as s", "select count(distinct key) from ({1}) as s"] }
albums_of = { type = "Tracks -> Albums", sql = "select album_id from track where id in ({1})" }
tracks_of = { type = "Albums -> Tracks", sql = "select id from track where album_id in ({1})" }
without = { type = "S, S -> S where S in [Tracks, Albums]", sql = "select key from ({1}) as kept where key not in ({2})" }
either = { type = "S, S -> S where S in [Tracks, Albums]", sql = "select key from ({1}) as a union select key from ({2}) as b" }
cheap = { type = "Filter", sql = "select id from track where price < 100" }
long = { type = "Filter", sql = "select id from track where ms >= 200000" }
sung = { type = "Artist -> Filter", sql = "select id from track where album_id in (select id from album where artist_id in ({1}))" }
matching = { type = "Tracks, Filters -> Tracks", sql = "select id from track where id in ({1}) and id in ({2})" }

[[entities]]
class = "artist"
type = "Artist"
form = "artist('{name}')"
names = ["Ann", "Bob", "O'Neil", "Çelik"]
open = true
sql = "select id from artist where name = {name}"

[[entities]]
class = "album"
type = "Album"
form = "album({name})"
names = ["1", "2", "3"]
open = true

[[literals]]
class = "duration"
type = "Duration"
kind = "duration"
form = "time({number}, {unit})"

[[literals]]
class = "number"
type = "Count"
kind = "integer"
form = "{value}"

[[literals]]
class = "text"
type = "Text"
kind = "quoted"
form = "text('{value}')"

[[literals]]
class = "date"
type = "Date"
kind = "date"
form = "day('{value}')"

[[sets]]
head = "all"
elements = ["Filter"]
result = "Filters"
sql = "intersect"

[show]
Tracks = "select id as key, id, title from track"
Albums = "select id as key, name from album order by released desc, id"
[units]
ms = "ms"
Number = "pieces"
"#;

/// The tables, with `n` tracks.
pub(super) fn schema(n: i64) -> String {
    let mut sql = String::from(
        "create table artist(id integer primary key, name text);
         insert into artist values (1, 'Ann'), (2, 'Bob'), (3, 'O''Neil'), (4, 'Çelik');
         create table album(id integer primary key, name text, artist_id integer, released date);
         create table track(id integer primary key, title text, album_id integer, ms integer, price integer);",
    );
    for id in 1..=5 {
        sql += &format!(
            "insert into album values ({id}, 'Album {id}', {}, '20{:02}-0{id}-01');",
            (id * 3) % 4 + 1,
            20 - id * 2
        );
    }
    for id in 1..=n {
        let album = if id % 7 == 0 { "null".to_owned() } else { ((id * 5) % 6).to_string() };
        let price = if id % 5 == 0 { "null".to_owned() } else { ((id * 37) % 200).to_string() };
        let ms = (id * 7919) % 400_000;
        sql += &format!("insert into track values ({id}, 'Title {}', {album}, {ms}, {price});", id % 4);
    }
    sql
}

/// A database with a domain.
pub(super) struct Music {
    pub(super) directory: TempDir,
    pub(super) domain: Arc<Domain>,
    pub(super) executor: SqlExecutor,
}

impl Music {
    pub(super) fn new(source: &str, schema: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let connection = Connection::open(directory.path().join("music.db")).unwrap();
        connection.execute_batch(schema).unwrap();
        let domain = Domain::load(source, "music.toml", None, &NoTables).unwrap_or_else(|it| panic!("{it}"));
        let domain = Arc::new(domain);
        let executor = SqlExecutor::new(Arc::clone(&domain), directory.path().to_owned()).unwrap();
        Self { directory, domain, executor }
    }

    /// The same rows in PostgreSQL too, and programs run there; `None` where there is no server.
    pub(super) fn on_postgres(source: &str, schema: &str) -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let server = crate::server::shared()?;
        let name = format!("music{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let role = "do $$ begin create role anyone login; exception when duplicate_object then null; end $$";
        server.execute("postgres", role);
        server.execute("postgres", &format!("create database {name}"));
        server.execute(&name, schema);
        server.execute(&name, "grant select on all tables in schema public to public");
        let url = server.url("anyone", &name, "");
        let music = Self::new(source, schema);
        let domain = source.replace("sqlite:music.db", &url);
        let domain = Domain::load(&domain, "music.toml", None, &NoTables).unwrap_or_else(|it| panic!("{it}"));
        let domain = Arc::new(domain);
        let executor = SqlExecutor::new(Arc::clone(&domain), music.directory.path().to_owned()).unwrap();
        Some(Self { domain, executor, ..music })
    }

    pub(super) fn read(&self, program: &str) -> (Terms, TermId) {
        let mut terms = self.domain.new_terms();
        let term = terms.parse(program).unwrap_or_else(|problem| panic!("{}", problem.render("p", program)));
        (terms, term)
    }

    pub(super) fn run(&self, program: &str) -> Result<Found, SqlError> {
        let (terms, term) = self.read(program);
        self.executor.run(&terms, term, &Stop::new())
    }

    pub(super) fn json(&self, program: &str) -> String {
        let found = self.run(program).unwrap_or_else(|error| panic!("{program}: {error}"));
        serde_json::to_string(&found.answer).unwrap()
    }
}

//! Values that are made to do harm, as entities and literals of programs.

use super::{MUSIC, Music, schema};
use rusqlite::Connection;
use spanwise_lang::Shape;
use spanwise_sql::compose::compose;
use spanwise_sql::database::{Dialect, Stop};

/// More than 1,000 values.
fn values() -> Vec<String> {
    let parts = [
        "'",
        "''",
        "\"",
        "`",
        "\\",
        "\\'",
        "--",
        "/*",
        "*/",
        ";",
        "%",
        "_",
        "$1",
        "?1",
        ":x",
        "@x",
        "{1}",
        "{{",
        "}}",
        "{?1: x}",
        "\n",
        "\r\n",
        "\t",
        "\u{1}",
        "é",
        "日本",
        "\u{202e}",
        "👩‍👧",
        "\u{feff}",
        "null",
        " or 1=1",
        "'; drop table track; --",
        "' union select name from artist --",
        ")) as x; delete from track; --",
        "$$",
        "E'\\x27'",
        "x'00'",
        "\0",
    ];
    let mut values: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
    for first in parts {
        for second in parts.iter().take(28) {
            values.push(format!("Ann{first}{second}"));
        }
    }
    values.extend([
        "".to_owned(),
        "a".repeat(100_000),
        "'".repeat(10_000),
        "9".repeat(400),
        "NaN".to_owned(),
        "-0".to_owned(),
    ]);
    assert!(values.len() > 1_000);
    values
}

#[test]
fn values_never_change_a_statement_and_nothing_but_the_statement_runs() {
    for music in
        [Some(Music::new(MUSIC, &schema(9))), Music::on_postgres(MUSIC, &schema(9))].into_iter().flatten()
    {
        let dialect = music.executor.dialect();
        let plain = {
            let (terms, term) = music.read("named(by(artist('Ann'), tracks), text('Title 1'))");
            compose(&music.domain, &terms, term, dialect).unwrap().statement.sql
        };
        let before = music.json("tracks");
        let (mut n_refused, mut n_empty) = (0, 0);
        // A server is slower, and the statements are the same.
        let step = if dialect == Dialect::Sqlite { 1 } else { 5 };
        for value in values().into_iter().step_by(step) {
            let mut terms = music.domain.new_terms();
            let (name, text) =
                (terms.leaf(Shape::Quoted, &value), terms.leaf(Shape::Quoted, &format!("x{value}")));
            let (artist, text) = (terms.call("artist", &[name]), terms.call("text", &[text]));
            let tracks = terms.parse("tracks").unwrap();
            let by = terms.call("by", &[artist, tracks]);
            let term = terms.call("named", &[by, text]);
            match compose(&music.domain, &terms, term, dialect) {
                Ok(query) => assert_eq!(query.statement.sql, plain, "{value:?}"),
                // Neither a literal nor a database has such a text.
                Err(error) => {
                    assert!(value.contains(char::is_control), "{value:?}: {error}");
                    n_refused += 1;
                }
            }
            if let Ok(found) = music.executor.run(&terms, term, &Stop::new()) {
                assert!(found.is_empty, "{value:?}");
                n_empty += 1;
            }
        }
        assert!(n_refused < 300 / step && n_empty > 800 / step, "{n_refused} {n_empty}");
        assert_eq!(music.json("tracks"), before);
    }
}

#[test]
fn a_hostile_name_that_exists_is_found_and_no_other() {
    let music = Music::new(MUSIC, &schema(9));
    let names: Vec<String> = values()
        .into_iter()
        .filter(|name| !name.contains(char::is_control) && name.trim() == name && !name.is_empty())
        .collect();
    let names: Vec<String> =
        names.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let connection = Connection::open(music.directory.path().join("music.db")).unwrap();
    connection.execute_batch("begin").unwrap();
    for (at, name) in names.iter().enumerate() {
        let id = 100 + at as i64;
        connection.execute("insert into artist values (?1, ?2)", rusqlite::params![id, name]).unwrap();
        connection.execute("insert into album values (?1, 'x', ?1, '2020-01-01')", [id]).unwrap();
        connection
            .execute("insert into track values (?1, ?2, ?1, 1, 1)", rusqlite::params![id, name])
            .unwrap();
    }
    connection.execute_batch("commit").unwrap();
    for (at, name) in names.iter().enumerate() {
        let mut terms = music.domain.new_terms();
        let quoted = terms.leaf(Shape::Quoted, name);
        let (artist, text) = (terms.call("artist", &[quoted]), terms.call("text", &[quoted]));
        let tracks = terms.parse("tracks").unwrap();
        let by = terms.call("by", &[artist, tracks]);
        let term = terms.call("named", &[by, text]);
        let found = music.executor.run(&terms, term, &Stop::new()).unwrap();
        let expected = format!(r#"[[{},{}]]"#, 100 + at, serde_json::to_string(name).unwrap());
        assert!(found.text.ends_with(&format!(r#""rows":{expected}}}"#)), "{name:?}: {}", found.text);
    }
}

#[test]
fn numbers_of_any_size_are_values() {
    for music in
        [Some(Music::new(MUSIC, &schema(9))), Music::on_postgres(MUSIC, &schema(9))].into_iter().flatten()
    {
        for number in [
            "0",
            "9223372036854775807",
            "9223372036854775808",
            "99999999999999999999999999",
            "0.000000000001",
        ] {
            let program = format!("longer(tracks, time({number}, s))");
            let (terms, term) = music.read(&program);
            if let Ok(query) = compose(&music.domain, &terms, term, Dialect::Sqlite) {
                assert!(!query.statement.sql.contains(number) || number == "0", "{number}");
            }
            // A value may be too large for the database, which is an error and nothing else.
            let _ = music.run(&program);
        }
        assert_eq!(music.json("count(tracks)"), "9");
    }
}

#[test]
fn a_domain_file_cannot_write() {
    for (from, to) in [
        ("select id from album\"", "select id from album where id in (select writes(1))\""),
        ("select id from album\"", "select load_extension('x')\""),
        ("select id from album\"", "with gone as (delete from track returning id) select id from gone\""),
        ("select id from album\"", "select nextval('x')\""),
        ("select id from album\"", "select pg_read_file('/etc/passwd')\""),
        ("select id from album\"", "select writefile('x', 'y')\""),
    ] {
        let source = MUSIC.replace(from, to);
        let directory = tempfile::tempdir().unwrap();
        let loaded =
            spanwise_lang::Domain::load(&source, "music.toml", None, &spanwise_lang::domain::NoTables);
        if loaded.is_err() {
            assert!(to.contains("delete"), "{to}");
            continue;
        }
        drop(directory);
        for music in [Some(Music::new(&source, &schema(4))), Music::on_postgres(&source, &schema(4))]
            .into_iter()
            .flatten()
        {
            assert!(music.run("albums").is_err(), "{to}");
            assert_eq!(music.json("count(tracks)"), "4");
        }
    }
}

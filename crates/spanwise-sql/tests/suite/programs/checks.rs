//! Checks of `sql` against a database.

use super::{MUSIC, Music, schema};
use expect_test::{Expect, expect};
use spanwise_lang::DomainErrors;
use spanwise_sql::check::check;

fn problems(music: &Music) -> (String, usize) {
    let database = music.executor.open().unwrap();
    let (problems, n) = check(&music.domain, &*database).unwrap();
    let errors =
        DomainErrors { file: "music.toml".to_owned(), source: music.domain.source().to_owned(), problems };
    (errors.to_string(), n)
}

#[test]
fn every_fragment_of_a_good_file_is_accepted_by_both_databases() {
    for music in
        [Some(Music::new(MUSIC, &schema(1))), Music::on_postgres(MUSIC, &schema(1))].into_iter().flatten()
    {
        let (text, n) = problems(&music);
        assert_eq!(text, "");
        // All constants, the class `artist`, and two types that are shown. `count` has two.
        assert_eq!(n, 24);
    }
}

fn wrong(from: &str, to: &str, expected: &Expect) {
    assert!(MUSIC.contains(from), "{from}");
    let music = Music::new(&MUSIC.replace(from, to), &schema(1));
    expected.assert_eq(&problems(&music).0);
}

#[test]
fn what_a_database_does_not_accept_is_shown_with_line_column_and_caret() {
    wrong(
        "where price < 100",
        "where prize < 100",
        &expect![[r#"
            error: the database does not accept the `sql` of `cheap`: no such column: prize
              --> music.toml:26:62
               |
            26 | ...e = "Filter", sql = "select id from track where prize < 100" }
               |                                                    ^^^^^"#]],
    );
    wrong(
        "\"select id from album\"",
        "\"select id, name from album\"",
        &expect![[r#"
        error: the `sql` of `albums` yields 2 columns, not 1
          --> music.toml:11:36
           |
        11 | albums = { type = "Albums", sql = "select id, name from album" }
           |                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^
           = hint: it yields keys; for keys with a value, write `sql = { value = ".." }`"#]],
    );
    wrong(
        "value = \"select id, price from",
        "value = \"select price from",
        &expect![[r#"
        error: the `sql` of `price` yields 1 column, not 2
          --> music.toml:17:55
           |
        17 | ...= { type = "Tracks -> Prices", sql = { value = "select price from track where id in ({1})" } }
           |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = hint: it yields keys, each with its value"#]],
    );
    wrong(
        "Tracks = \"select id as key, id",
        "Tracks = \"with t as (select 1) select id, id",
        &expect![[r#"
        error: the first column of `Tracks` is called `id`
          --> music.toml:77:11
           |
        77 | Tracks = "with t as (select 1) select id, id, title from t...
           |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = hint: the first column is the key: write `select id as key, ..`"#]],
    );
    wrong(
        "where id in ({1}){?2: and",
        "where id in ({1}){?2: und",
        &expect![[r#"
        error: the database does not accept the `sql` of `on`: near "und": syntax error
          --> music.toml:15:93
           |
        15 | ...l = "select id from track where id in ({1}){?2: und album_id = {2:name}}{!2: and album_id is nul...
           |                                                    ^^^"#]],
    );
}

#[test]
fn postgresql_finds_columns_of_another_type() {
    let source = MUSIC.replace("where name = {name}", "where id = {name}");
    if let Some(music) = Music::on_postgres(&source, &schema(1)) {
        let (text, _) = problems(&music);
        expect![[r#"
            error: the database does not accept the `sql` of `artist`: operator does not exist: integer = text; No operator matches the given name and argument types. You might need to add explicit type casts
              --> music.toml:37:39
               |
            37 | sql = "select id from artist where id = {name}"
               |                                       ^"#]].assert_eq(&text);
    }
}

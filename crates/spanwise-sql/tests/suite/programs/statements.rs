//! The statements of programs, letter by letter.

use super::{MUSIC, Music, schema};
use expect_test::{Expect, expect};
use spanwise_sql::compose::{ComposeError, compose};
use spanwise_sql::database::{Dialect, Value};

fn check(program: &str, dialect: Dialect, expected: &Expect) {
    let music = Music::new(MUSIC, &schema(1));
    let (terms, term) = music.read(program);
    let query = compose(&music.domain, &terms, term, dialect).unwrap();
    expected.assert_eq(&query.readable());
}

#[test]
fn arguments_become_expressions_and_values_become_parameters() {
    check(
        "without(by(artist('O''Neil'), tracks), longer(by(artist('O''Neil'), tracks), time(90, s)))",
        Dialect::Sqlite,
        &expect![[r#"
            with n1(key) as (
            select id from track
            ),
            n2(key) as (
            select id from artist where name = ?1
            ),
            n3(key) as (
            select t.id from track t join album a on a.id = t.album_id where t.id in (select key from n1 where key is not null) and a.artist_id in (select key from n2 where key is not null)
            ),
            n4(key) as (
            select id from track where id in (select key from n3 where key is not null) and ms > ?2 * 1000
            ),
            n5(key) as (
            select key from (select key from n3 where key is not null) as kept where key not in (select key from n4 where key is not null)
            )
            select shown.* from (
            select id as key, id, title from track
            ) as shown
            where shown.key in (select key from n5)
            order by shown.key
            -- ?1 = 'O''Neil'
            -- ?2 = 90"#]],
    );
}

#[test]
fn postgresql_reads_parameters_with_a_type_and_ranks_give_the_order() {
    check(
        "top(3, price(longer(tracks, time(1.5, s))))",
        Dialect::Postgres,
        &expect![[r#"
            with n1(key) as (
            select id from track
            ),
            n2(key) as (
            select id from track where id in (select key from n1 where key is not null) and ms > $1::text::numeric * 1000
            ),
            n3(key, value) as (
            select id, price from track where id in (select key from n2 where key is not null)
            ),
            n4(key, rank) as (
            select key, row_number() over (order by value desc, key) from (select key, value from n3) as v where value is not null order by value desc, key limit $2::text::bigint
            )
            select shown.* from (
            select id as key, id, title from track
            ) as shown
            join (select key, min(rank) as rank from n4 group by key) as found on found.key = shown.key
            order by found.rank, shown.key
            -- $1 = 1.5
            -- $2 = 3"#]],
    );
}

#[test]
fn sets_and_slots_that_were_left_out() {
    check(
        "on(matching(tracks, all(long, cheap)))",
        Dialect::Sqlite,
        &expect![[r#"
            with n1(key) as (
            select id from track
            ),
            n2(key) as (
            select id from track where price < 100
            ),
            n3(key) as (
            select id from track where ms >= 200000
            ),
            n4(key) as (
            select key from n2 where key is not null
            intersect
            select key from n3 where key is not null
            ),
            n5(key) as (
            select id from track where id in (select key from n1 where key is not null) and id in (select key from n4 where key is not null)
            ),
            n6(key) as (
            select id from track where id in (select key from n5 where key is not null) and album_id is null
            )
            select shown.* from (
            select id as key, id, title from track
            ) as shown
            where shown.key in (select key from n6)
            order by shown.key"#]],
    );
}

#[test]
fn an_order_of_show_is_kept() {
    check(
        "albums",
        Dialect::Sqlite,
        &expect![[r#"
            with n1(key) as (
            select id from album
            )
            select shown.* from (
            select listed.*, row_number() over () as place from (
            select id as key, name from album order by released desc, id
            ) as listed
            ) as shown
            where shown.key in (select key from n1)
            order by shown.place, shown.key"#]],
    );
}

#[test]
fn a_parameter_is_never_glued_to_what_stands_beside_it() {
    let source = MUSIC.replace(
        "select id from track where id in ({1}) and title = {2:value}",
        "select id from track where id in ({1}) and title ={2:value}and 1{2:value}0 = 1",
    );
    let music = Music::new(&source, &schema(1));
    let (terms, term) = music.read("named(tracks, text('x'))");
    let query = compose(&music.domain, &terms, term, Dialect::Sqlite).unwrap();
    assert!(query.statement.sql.contains("title =?1 and 1 ?1 0 = 1"), "{}", query.statement.sql);
    assert_eq!(query.statement.parameters, [Value::Text("x".to_owned())]);
}

#[test]
fn names_of_expressions_avoid_names_of_the_file() {
    let source = MUSIC.replace("select id from album\"", "select n2.id from album as N2\"");
    let music = Music::new(&source, &schema(1));
    assert!(music.run("tracks_of(albums)").is_ok());
    let (terms, term) = music.read("albums");
    let query = compose(&music.domain, &terms, term, Dialect::Sqlite).unwrap();
    assert!(query.statement.sql.starts_with("with n_1(key) as ("), "{}", query.statement.sql);
}

#[test]
fn programs_without_bound_are_refused_before_a_database_sees_them() {
    let music = Music::new(MUSIC, &schema(1));
    let nested = |n: usize| format!("{}tracks{}", "on(".repeat(n), ")".repeat(n));
    assert!(music.run(&nested(99)).is_ok());
    for n in [100, 20_000] {
        let error = music.run(&nested(n)).unwrap_err().to_string();
        assert_eq!(error, "the program is too large for a database: more than 100 levels");
    }
    // A few terms, but each is used twice by the next.
    let mut terms = music.domain.new_terms();
    let mut term = terms.parse("tracks").unwrap();
    for _ in 0..15 {
        term = terms.call("either", &[term, term]);
    }
    let limit = ComposeError::Limit { what: "selects", limit: 2_000 };
    assert_eq!(compose(&music.domain, &terms, term, Dialect::Sqlite), Err(limit));
    for _ in 0..100 {
        term = terms.call("either", &[term, term]);
    }
    assert!(matches!(compose(&music.domain, &terms, term, Dialect::Sqlite), Err(ComposeError::IllTyped(_))));
}

#[test]
fn what_has_no_statement_is_named() {
    let music = Music::new(
        &MUSIC.replace("\"Number\", \"Prices\"] }", "\"Number\", \"Prices\", \"Text\"] }"),
        &schema(1),
    );
    let error = music.run("text('x')").unwrap_err().to_string();
    assert_eq!(error, "`text('x')` is only a name or a value, which has no answer");
    let error = music.run("by(artist('a\0b'), tracks)").unwrap_err().to_string();
    assert_eq!(error, r"`a\0b` has a NUL character, which no database compares");
    let error = music.run("count(count(tracks))").unwrap_err().to_string();
    assert!(error.contains("count"), "{error}");
}

//! Answers: values, lists, tables; what is cut, counted, and in which unit.

use super::{MUSIC, Music, schema};
use spanwise_sql::database::Stop;
use std::time::{Duration, Instant};

#[test]
fn one_value_is_a_value_and_shown_types_are_tables_without_their_key() {
    let music = Music::new(MUSIC, &schema(6));
    assert_eq!(music.json("count(tracks)"), "6");
    assert_eq!(music.json("count(named(tracks, text('none')))"), "0");
    assert_eq!(music.json("on(tracks, album(5))"), r#"{"columns":["id","title"],"rows":[[1,"Title 1"]]}"#);
    assert_eq!(
        music.json("top(2, ms(tracks))"),
        r#"{"columns":["id","title"],"rows":[[6,"Title 2"],[5,"Title 1"]]}"#
    );
    // Without `[show]`, keys and their values.
    assert_eq!(
        music.json("price(on(tracks, album(5)))"),
        r#"{"columns":["Prices","price"],"rows":[[1,37]]}"#
    );
    assert_eq!(music.run("count(tracks)").unwrap().units, ["pieces"]);
    assert_eq!(music.run("ms(tracks)").unwrap().units, ["", "ms"]);
    assert!(music.run("named(tracks, text('none'))").unwrap().is_empty);
}

#[test]
fn values_of_a_shown_type_are_a_column_named_after_the_constant_unless_it_is_there() {
    let source = MUSIC.replace("\nTracks = \"select id as key, id,", "\nPrices = \"select id as key, ms,");
    let music = Music::new(&source, &schema(2));
    assert_eq!(
        music.json("price(tracks)"),
        r#"{"columns":["ms","title","price"],"rows":[[7919,"Title 1",37],[15838,"Title 2",74]]}"#
    );
    assert_eq!(
        music.json("ms(tracks)"),
        r#"{"columns":["ms","title"],"rows":[[7919,"Title 1"],[15838,"Title 2"]]}"#
    );
    assert_eq!(music.json("tracks"), "[1,2]");
}

#[test]
fn equal_answers_have_equal_texts_and_the_order_counts_only_where_it_is_ranked() {
    let music = Music::new(MUSIC, &schema(30));
    let text = |program: &str| music.run(program).unwrap().text;
    assert_eq!(text("either(cheapest_of, tracks)".replace("cheapest_of", "tracks").as_str()), text("tracks"));
    // In the order of `[show]` and in that of the keys: the same answer.
    let newest = music.json("albums");
    assert!(newest.find("Album 1").unwrap() < newest.find("Album 2").unwrap());
    assert_ne!(text("top(30, ms(tracks))"), text("tracks"));
    assert_eq!(text("top(1, ms(tracks))"), text("top(1, ms(longer(tracks, time(1, s))))"));
}

#[test]
fn an_answer_that_is_cut_says_how_many_rows_there_are() {
    let source = MUSIC.replace("rows = 1000", "rows = 7");
    for music in [Some(Music::new(&source, &schema(40))), Music::on_postgres(&source, &schema(40))]
        .into_iter()
        .flatten()
    {
        for (program, n) in [("tracks", 40), ("price(tracks)", 40), ("top(9, ms(tracks))", 9)] {
            let found = music.run(program).unwrap();
            assert!(found.is_truncated, "{program}");
            assert_eq!(found.n_rows, Some(n), "{program}");
        }
        let all = music.run("albums").unwrap();
        assert_eq!((all.is_truncated, all.n_rows), (false, Some(5)));
    }
}

/// The domain with a constant whose query takes minutes.
fn slow(timeout: &str) -> String {
    let endless = "select count(*) from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000000000) select i from n) as counted";
    MUSIC.replace("timeout = \"5 s\"", &format!("timeout = \"{timeout}\"")).replace(
        "albums = {",
        &format!("endless = {{ type = \"Number\", sql = \"{endless}\" }}\nalbums = {{"),
    )
}

#[test]
fn a_query_that_would_take_minutes_ends_at_its_limit_and_when_it_is_stopped() {
    let cut = slow("300 ms");
    for music in
        [Some(Music::new(&cut, &schema(5))), Music::on_postgres(&cut, &schema(5))].into_iter().flatten()
    {
        let start = Instant::now();
        let error = music.run("endless").unwrap_err().to_string();
        assert!(error.ends_with("the database did not answer within 300 ms"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert_eq!(music.json("count(tracks)"), "5");
    }
    let stopped = slow("10 min");
    for music in [Some(Music::new(&stopped, &schema(5))), Music::on_postgres(&stopped, &schema(5))]
        .into_iter()
        .flatten()
    {
        let (terms, term) = music.read("endless");
        let stop = Stop::new();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let other = stop.clone();
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(100));
                other.stop();
            });
            // Others are answered meanwhile.
            let running = scope.spawn(|| music.executor.run(&terms, term, &stop));
            assert_eq!(music.json("count(tracks)"), "5");
            let error = running.join().unwrap().unwrap_err().to_string();
            assert!(error.ends_with("the question was cancelled"), "{error}");
        });
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

#[test]
fn without_its_database_a_domain_loads_and_says_so_when_asked() {
    let music = Music::new(MUSIC, &schema(1));
    std::fs::remove_file(music.directory.path().join("music.db")).unwrap();
    let error = music.run("tracks").unwrap_err().to_string();
    assert!(error.starts_with("database sqlite:music.db: "), "{error}");
    let (terms, term) = music.read("tracks");
    assert!(music.executor.query(&terms, term).unwrap().readable().contains("select id from track"));
    // It is found as soon as it is there.
    let connection = rusqlite::Connection::open(music.directory.path().join("music.db")).unwrap();
    connection.execute_batch(&schema(3)).unwrap();
    assert_eq!(music.json("count(tracks)"), "3");
}

#[test]
fn what_a_database_does_not_accept_is_told_with_the_place_in_the_domain_file() {
    let source =
        MUSIC.replace("select id from track where price < 100", "select id from track where prize < 100");
    let music = Music::new(&source, &schema(1));
    let error = music.run("matching(tracks, cheap)").unwrap_err().to_string();
    let expected =
        "the database does not accept the `sql` of this program (line 26, column 62 of the domain file): ";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains("prize"), "{error}");
}

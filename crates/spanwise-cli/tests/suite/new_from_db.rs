//! `spanwise new --from-db`: a database becomes a project that works, or nothing at all.

use crate::common::Sandbox;
use rusqlite::Connection;

const SHOP: &str = "
    create table category(id integer primary key, name text not null);
    create table product(id integer primary key, name text not null, price numeric(8, 2), category_id integer references category(id));
    create table purchase(id integer primary key, product_id integer references product(id), quantity integer, bought_on date);
    create table empty_one(id integer primary key);
    insert into category values (1, 'Bikes'), (2, 'Helmets');
    insert into product values (1, 'Ridge', 900, 1), (2, 'Metro', 400, 1), (3, 'Dome', 40, 2), (4, 'Shell', 60, 2);
    insert into purchase with recursive n(i) as (select 1 union all select i + 1 from n where i < 40)
        select i, 1 + i % 3, 1 + i % 2, '2024-0' || (1 + i % 9) || '-1' || (i % 10) from n;";

fn shop() -> Sandbox {
    let sandbox = Sandbox::new();
    Connection::open(sandbox.path("shop.db")).unwrap().execute_batch(SHOP).unwrap();
    sandbox
}

#[test]
fn a_database_becomes_a_project_that_can_be_run_and_trained() {
    let sandbox = shop();
    sandbox
        .run(["new", "shop", "--from-db", "sqlite:shop.db", "--examples", "300"])
        .exits(0)
        .prints(["product: products", "next: cd shop && spanwise train train.toml"])
        .says(["left out: empty_one: it is empty"]);
    let files = ["README.md", "dev.jsonl", "domain.toml", "train.jsonl", "train.toml"];
    assert_eq!(sandbox.names("shop"), files);
    assert!(sandbox.read("shop/domain.toml").contains("sqlite:../shop.db"));
    sandbox.run(["check", "shop/domain.toml", "shop/train.jsonl", "--quick"]).exits(0).prints(["100.0 %"]);
    sandbox.run(["exec", "shop/domain.toml", "count(products())"]).exits(0).prints(["4"]);
    sandbox.run(["exec", "shop/domain.toml", "most_price(products())"]).exits(0).prints(["Ridge"]);
    let train = ["train", "shop/train.toml", "--out", "model", "--set", "training.epochs=1"];
    sandbox.run(train).exits(0);
}

#[test]
fn one_json_object_says_what_was_made() {
    let sandbox = shop();
    let call =
        ["new", "a/shop", "--from-db", "sqlite:shop.db", "--tables", "product", "--examples", "0", "--json"];
    let report = sandbox.run(call).exits(0).json();
    assert_eq!(report["tables"][0]["noun"], "products");
    assert_eq!(report["tables"].as_array().unwrap().len(), 1);
    assert_eq!((&report["train"], &report["dev"]), (&0.into(), &0.into()));
    assert!(sandbox.read("a/shop/domain.toml").contains("sqlite:../../shop.db"));
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let sandbox = shop();
    let refused = |url: &str, more: &[&str], words: &str| {
        let call = sandbox.call(["new", "made", "--from-db", url]);
        let outcome = more.iter().fold(call, |call, argument| call.arg(argument)).run();
        assert_ne!(outcome.code, Some(0), "{url}");
        assert!(outcome.stderr.contains(words), "{url}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("s3cret"), "{url}");
        assert_eq!(sandbox.names("."), ["shop.db"], "{url}");
    };
    refused("sqlite:absent.db", &[], "absent.db");
    refused("mysql://host/db", &[], "sqlite:FILE");
    refused("postgres://ann:s3cret@127.0.0.1:1/shop", &[], "password");
    refused("sqlite:shop.db", &["--tables", "prodcut"], "there is no table `prodcut`");
    refused(
        "sqlite:shop.db",
        &["--exclude", "product,purchase,category"],
        "no table that can be asked about",
    );
    sandbox.write("full/something.txt", "kept");
    sandbox.run(["new", "full", "--from-db", "sqlite:shop.db"]).exits(2).says(["holds something"]);
    assert_eq!(sandbox.names("full"), ["something.txt"]);
}

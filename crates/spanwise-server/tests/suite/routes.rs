//! Every route and every status, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, FakeSource, config, program, serve, serve_all, start};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn one_utterance_gives_one_reading() {
    let server = serve(config(), || Fake::new("say"));
    let reply = server.post("/v1/parse", &json!({ "utterance": "good day", "k": 2, "chart": true }));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.headers["content-type"], "application/json");
    let found = reply.json();
    assert_eq!(found["program"], program("say", "good day"));
    assert_eq!((&found["answer"], &found["denotation"]), (&json!(["good day"]), &json!("good day")));
    assert_eq!((&found["tree"]["category"], &found["tree"]["children"]), (&json!("constant"), &json!([])));
    assert_eq!(found["alternatives"].as_array().unwrap().len(), 2);
    assert_eq!(found["tokens"][1]["start"], 5);
    assert_eq!(found["chart"][0]["probability"], 0.5);
    let plain = server.post("/v1/parse", &json!({ "utterance": "good day" })).json();
    assert!(plain.get("chart").is_none());
    assert_eq!(plain["alternatives"], json!([]));
}

#[test]
fn many_utterances_give_readings_in_their_order() {
    let server = serve(config(), || Fake::new("say"));
    let texts: Vec<String> = (0..100).map(|at| format!("{} {at}", "word ".repeat(at % 7))).collect();
    let reply = server.post("/v1/parse", &json!({ "utterances": texts })).json();
    let found: Vec<&str> =
        reply["results"].as_array().unwrap().iter().map(|one| one["utterance"].as_str().unwrap()).collect();
    assert_eq!(found, texts);
    let none = server.post("/v1/parse", &json!({ "utterances": [] }));
    assert_eq!((none.status, none.json()), (200, json!({ "results": [] })));
}

#[test]
fn no_program_comes_with_a_reason() {
    let server = serve(config(), || Fake::new("say"));
    let nothing = server.post("/v1/parse", &json!({ "utterance": "nothing" })).json();
    assert_eq!((&nothing["program"], &nothing["tree"]), (&Value::Null, &Value::Null));
    assert_eq!(nothing["reason"], "every word is unknown");
    let body = json!({ "utterance": "doubt", "abstain_below": 0.5 });
    let doubt = server.post("/v1/parse", &body).json();
    assert_eq!((&doubt["program"], &doubt["denotation"]), (&Value::Null, &Value::Null));
    assert!(doubt["reason"].as_str().unwrap().starts_with("unsure"), "{doubt}");
    let guess = json!({ "program": program("say", "doubt"), "probability": 0.3, "posterior": 0.95 });
    assert_eq!(doubt["guess"], guess);
    let sure = server.post("/v1/parse", &json!({ "utterance": "doubt", "abstain_below": 0.3 })).json();
    assert_eq!(sure["program"], program("say", "doubt"));
    assert_eq!(sure["unknown_words"], json!(["doubt"]));
}

#[test]
fn the_threshold_decides_unless_the_request_or_the_server_does() {
    use spanwise_server::Withhold;
    let is_withheld = |server: &crate::common::Running, more: Value| {
        let mut body = json!({ "utterance": "doubt" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/parse", &body).json()["program"].is_null()
    };
    // The probability is 0.3, the threshold of the model 0.25.
    for (withhold, by_default, when_asked, below) in [
        (Withhold::Model, false, false, json!(0.25)),
        (Withhold::Below(0.5), true, true, json!(0.5)),
        (Withhold::Never, false, false, Value::Null),
    ] {
        let server = serve(spanwise_server::Config { withhold, ..config() }, || Fake::new("say"));
        assert_eq!(is_withheld(&server, json!({})), by_default, "{withhold:?}");
        assert_eq!(is_withheld(&server, json!({ "always_answer": null })), by_default, "{withhold:?}");
        assert_eq!(is_withheld(&server, json!({ "always_answer": false })), when_asked, "{withhold:?}");
        assert!(!is_withheld(&server, json!({ "always_answer": true })), "{withhold:?}");
        assert!(is_withheld(&server, json!({ "abstain_below": 0.4 })), "{withhold:?}");
        assert!(is_withheld(&server, json!({ "abstain_below": 0.4, "always_answer": false })));
        let model = server.get("/v1/model").json();
        assert_eq!((&model["threshold"], &model["calibrated"]), (&json!(0.25), &json!(true)));
        assert_eq!(model["withhold_below"], below, "{withhold:?}");
    }
    let server = serve(config(), || Fake::new("new"));
    let model = &server.get("/v1/models").json()["models"][0];
    assert_eq!((&model["threshold"], &model["calibrated"]), (&Value::Null, &json!(false)));
    assert_eq!(model["withhold_below"], Value::Null);
}

#[test]
fn withheld_answers_are_counted_by_cause() {
    let server = serve(config(), || Fake::new("say"));
    server.post("/v1/parse", &json!({ "utterances": ["doubt", "doubt", "sure"], "abstain_below": 0.5 }));
    server.post("/v1/parse", &json!({ "utterance": "nothing" }));
    let metrics = server.get("/metrics").body;
    let line = "spanwise_withheld_total{model=\"echo\",cause=\"unknown-words\"} 2";
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
    assert!(metrics.contains("{model=\"echo\",outcome=\"found\"} 3"), "{metrics}");
}

#[test]
fn a_request_may_say_which_day_it_is() {
    let server = serve(config(), || Fake::new("say"));
    let at = |now: Value| server.post("/v1/parse", &json!({ "utterance": "x", "now": now }));
    assert_eq!(at(json!("2011-03-05T14:30")).json()["now"], "2011-03-05T14:30");
    assert_eq!(at(Value::Null).json().get("now"), None);
    for wrong in [json!("2011-02-30"), json!("tomorrow")] {
        let reply = at(wrong);
        assert_eq!((reply.status, reply.code()), (400, "bad_request".to_owned()));
        assert!(
            reply.message().starts_with("$.now: expected a date such as 2011-03-05"),
            "{}",
            reply.message()
        );
    }
}

#[test]
fn a_program_is_evaluated_in_its_context() {
    let server = serve(config(), || Fake::new("say"));
    let reply = server.post("/v1/execute", &json!({ "program": "p", "context": { "a": 1 } }));
    let text = "p in {\"a\":1}";
    assert_eq!(reply.json(), json!({ "program": "p", "answer": text, "denotation": text }));
    let typed = server.post("/v1/execute", &json!({ "program": "[1, [true]]" })).json();
    assert_eq!(
        (&typed["answer"], &typed["denotation"]),
        (&json!([1, [true]]), &json!("[1, [true]] in null"))
    );
    let noted = server.post("/v1/execute", &json!({ "program": "noted" })).json();
    assert_eq!(noted["note"], "a remark");
    let none = server.post("/v1/execute", &json!({ "program": "novalue" })).json();
    assert_eq!(
        none,
        json!({ "program": "novalue", "answer": null, "denotation": null, "error": "it has no value" })
    );
    let bad = server.post("/v1/execute", &json!({ "program": "bad(" }));
    assert_eq!((bad.status, bad.code()), (422, "bad_program".to_owned()));
    let never = server.post("/v1/execute", &json!({ "program": "never" }));
    assert_eq!((never.status, never.code()), (422, "no_executor".to_owned()));
}

#[test]
fn models_are_selected_by_name() {
    let sources = ["one", "two"].map(|name| (name, FakeSource::new(move |_| Fake::new(name))));
    let server = serve_all(config(), sources.into());
    for (model, expected) in [(json!(null), "one"), (json!("one"), "one"), (json!("two"), "two")] {
        let reply = server.post("/v1/parse", &json!({ "utterance": "x", "model": model })).json();
        assert_eq!(reply["program"], program(expected, "x"));
    }
    assert_eq!(server.get("/v1/model").json()["name"], "one");
    let two = server.get("/v1/model?name=two").json();
    assert_eq!((&two["name"], &two["domain"], &two["ready"]), (&json!("two"), &json!("echo"), &json!(true)));
    let all = server.get("/v1/models").json();
    assert_eq!(all["models"].as_array().unwrap().len(), 2);
    for reply in [
        server.post("/v1/parse", &json!({ "utterance": "x", "model": "tow" })),
        server.post("/v1/execute", &json!({ "program": "x", "model": "tow" })),
        server.get("/v1/model?name=tow"),
    ] {
        assert_eq!((reply.status, reply.code()), (404, "unknown_model".to_owned()));
        assert_eq!(reply.json()["error"]["hint"], "did you mean `two`?");
    }
    assert_eq!(server.get("/v1/model?nam=two").status, 400);
    assert_eq!(server.get("/v1/model?name=one&name=two").status, 400);
    assert_eq!(server.get("/v1/model?name=%ff").status, 404);
    assert_eq!(server.get("/v1/model?name=%74w%6F").json()["name"], "two");
}

#[test]
fn a_wrong_field_is_named_by_its_path_with_what_was_expected() {
    let server = serve(config(), || Fake::new("say"));
    for (body, message) in [
        (r#"{"utterance": 3}"#, "$.utterance: expected a string, found 3"),
        (r#"{"utterances": ["a", null]}"#, "$.utterances[1]: expected a string, found null"),
        (r#"{"utterances": {}}"#, "$.utterances: expected a list, found {}"),
        (r#"{"utterance": "a", "k": -1}"#, "$.k: expected a whole number from 0, found -1"),
        (r#"{"utterance": "a", "k": 1.5}"#, "$.k: expected a whole number from 0, found 1.5"),
        (r#"{"utterance": "a", "chart": "yes"}"#, "$.chart: expected true or false, found \"yes\""),
        (
            r#"{"utterance": "a", "abstain_below": 2}"#,
            "$.abstain_below: expected a number from 0 to 1, found 2",
        ),
        (
            r#"{"utterance": "a", "abstain_below": 0.5, "always_answer": true}"#,
            "$.always_answer: expected true alone, or `abstain_below` alone, found `abstain_below` 0.5 as well",
        ),
        (r#"{"utterance": "a", "always_answer": 1}"#, "$.always_answer: expected true or false, found 1"),
        (r#"{"utterance": "a", "now": 2011}"#, "$.now: expected a string, found 2011"),
        (r#"{"utterance": "a", "model": []}"#, "$.model: expected a string, found []"),
        (
            r#"{"utterance": "a", "utterances": []}"#,
            "$: expected a field `utterance` or a field `utterances`, found both",
        ),
        (r"{}", "$: expected a field `utterance` or a field `utterances`, found neither"),
        (r"[1, 2]", "$: expected an object, found [1,2]"),
        (r#"{"utterence": "a"}"#, "$.utterence: there is no such field"),
    ] {
        let reply = server.post_bytes("/v1/parse", body.as_bytes());
        assert_eq!((reply.status, reply.message().as_str()), (400, message), "{body}");
    }
    let near = server.post_bytes("/v1/parse", br#"{"utterence": "a"}"#).json();
    assert_eq!(near["error"]["hint"], "did you mean `utterance`?");
    let quoted = server.post_bytes("/v1/parse", br#"{"`utter`ance`": "a"}"#).json();
    assert_eq!(quoted["error"]["message"], "$.`utter`ance`: there is no such field");
    assert_eq!(quoted["error"]["hint"], "did you mean `utterance`?");
    // What a client sent is repeated only in part.
    let long = server.post("/v1/parse", &json!({ "utterance": "a", "chart": "x".repeat(10_000) }));
    assert!(long.message().starts_with("$.chart: expected true or false") && long.body.len() < 300);
    let long = server.post("/v1/parse", &json!({ "x".repeat(10_000): 1 }));
    assert!(long.status == 400 && long.body.len() < 300, "{}", long.body);
    let missing = server.post("/v1/execute", &json!({}));
    assert_eq!(
        (missing.status, missing.message().as_str()),
        (400, "$: expected a field `program`, found none")
    );
}

#[test]
fn unknown_paths_are_404_and_wrong_methods_are_405() {
    let server = serve(config(), || Fake::new("say"));
    for path in ["/v2/parse", "/v1/parse/", "/favicon.ico", "/assets", "/assets/"] {
        let reply = server.get(path);
        assert_eq!((reply.status, reply.code()), (404, "not_found".to_owned()), "{path}");
    }
    for (method, path, allow) in
        [("GET", "/v1/parse", "POST"), ("DELETE", "/v1/models", "GET,HEAD"), ("POST", "/", "GET,HEAD")]
    {
        let reply = Client::new(server.addr).send(method, path, &[], b"");
        assert_eq!((reply.status, reply.code()), (405, "method_not_allowed".to_owned()), "{path}");
        assert_eq!(reply.headers["allow"], allow, "{path}");
    }
}

#[test]
fn before_models_are_loaded_the_server_runs_but_is_not_ready() {
    let slow = FakeSource::new(|_| {
        std::thread::sleep(Duration::from_millis(400));
        Fake::new("say")
    });
    let server = start(config(), vec![("echo", slow)]);
    server.wait(|server| server.get("/healthz").status == 200);
    let ready = server.get("/readyz");
    assert_eq!((ready.status, ready.code()), (503, "not_ready".to_owned()));
    let early = server.post("/v1/parse", &json!({ "utterance": "x" }));
    assert_eq!((early.status, early.code()), (503, "not_ready".to_owned()));
    assert_eq!(early.headers["retry-after"], "1");
    assert_eq!(server.get("/v1/model").json()["ready"], false);
    server.wait(|server| server.get("/readyz").status == 200);
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).status, 200);
}

#[test]
fn a_model_that_never_loads_ends_the_server_with_the_reason() {
    let source = FakeSource::new(|_| Fake::new("say"));
    source.broken.store(true, std::sync::atomic::Ordering::Relaxed);
    let server = start(config(), vec![("echo", source)]);
    let error = server.stop().unwrap_err();
    assert_eq!(error.to_string(), "the weights are damaged");
}

#[test]
fn an_engine_that_fails_gives_500_and_the_server_continues() {
    let server = serve(config(), || Fake::new("say"));
    for text in ["panic", "lose"] {
        let reply = server.post("/v1/parse", &json!({ "utterance": text }));
        assert_eq!((reply.status, reply.code()), (500, "internal".to_owned()), "{text}");
    }
    assert_eq!(server.post("/v1/execute", &json!({ "program": "panic" })).status, 500);
    for _ in 0..8 {
        assert_eq!(server.post("/v1/parse", &json!({ "utterance": "fine" })).status, 200);
    }
}

#[test]
fn metrics_count_what_happened() {
    let server = serve(config(), || Fake::new("say"));
    server.post("/v1/parse", &json!({ "utterances": ["a", "b", "nothing"] }));
    server.get("/nowhere/at/all");
    let reply = server.get("/metrics");
    assert!(reply.headers["content-type"].starts_with("application/openmetrics-text; version=1.0.0"));
    assert!(reply.body.ends_with("# EOF\n"));
    for line in [
        "spanwise_http_requests_total{route=\"/v1/parse\",method=\"POST\",status=\"200\"} 1",
        "spanwise_http_requests_total{route=\"other\",method=\"GET\",status=\"404\"} 1",
        "spanwise_http_request_seconds_count{route=\"/v1/parse\"} 1",
        "spanwise_utterances_total{model=\"echo\",outcome=\"found\"} 2",
        "spanwise_utterances_total{model=\"echo\",outcome=\"nothing\"} 1",
        "spanwise_model_loads_total{model=\"echo\",result=\"loaded\"} 1",
        "spanwise_queue_depth 0",
        "spanwise_queue_limit 1024",
    ] {
        assert!(reply.body.lines().any(|found| found == line), "{line} is not in\n{}", reply.body);
    }
    assert!(!reply.body.contains("nowhere"), "clients must not be able to add labels");
}

#[test]
fn the_page_and_its_files_come_with_a_strict_policy() {
    let server = serve(config(), || Fake::new("say"));
    let page = server.get("/");
    assert_eq!((page.status, page.headers["content-type"].as_str()), (200, "text/html; charset=utf-8"));
    let policy = &page.headers["content-security-policy"];
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    // No inline script or style: the policy would stop them.
    assert!(
        !page.body.contains(" style=") && !page.body.contains("<style") && !page.body.contains(" onclick")
    );
    assert!(
        page.body.matches("<script").count() == page.body.matches("<script type=\"module\" src=").count()
    );
    // Every file that the page or its scripts name is there.
    let mut todo = vec![page.body];
    let mut n_files = 0;
    while let Some(text) = todo.pop() {
        let quoted = text.split('"').skip(1).step_by(2);
        for name in quoted.filter(|name| name.starts_with("/assets/") || name.starts_with("./")) {
            let path = name.replacen("./", "/assets/", 1);
            let file = server.get(&path);
            assert_eq!(file.status, 200, "{path}");
            assert_eq!(file.headers["x-content-type-options"], "nosniff");
            n_files += 1;
            if path == "/assets/app.js" {
                todo.push(file.body);
            }
        }
    }
    assert!(n_files >= 8, "{n_files}");
}

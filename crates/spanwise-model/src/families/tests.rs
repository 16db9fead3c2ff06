//! Settings as configurations and `model.json` write them.

use super::Settings;

#[test]
fn every_family_is_listed_and_its_settings_are_read_back() {
    for &name in Settings::FAMILIES {
        let settings = Settings::default_of(name).expect("it is listed");
        assert_eq!(settings.family().name(), name);
        assert!(!settings.family().objectives().is_empty());
        let text = serde_json::to_string(&settings).expect("settings are JSON");
        assert_eq!(serde_json::from_str::<Settings>(&text).expect("it was written by us"), settings);
    }
    assert_eq!(Settings::default_of("tree-transformer"), None);
}

#[test]
fn the_older_key_names_the_family_and_settings_of_others_are_ignored() {
    let read = |text: &str| serde_json::from_str::<Settings>(text);
    let older = read(r#"{"search": "exact", "beam": 5, "hidden": 7, "type_check": "every-tree"}"#);
    let Ok(Settings::Chart(chart)) = older else { panic!("{older:?}") };
    assert_eq!(chart.hidden, 7);
    assert!(matches!(read(r#"{"search": "paper", "rare_below": 5}"#), Ok(Settings::Paper(_))));
    let error = read(r#"{"family": "chart", "hiden": 7}"#).unwrap_err().to_string();
    assert!(error.contains("unknown field `hiden`"), "{error}");
    let error = read(r#"{"family": "paper", "joins": "zzz"}"#).unwrap_err().to_string();
    assert!(error.contains("zzz"), "{error}");
    let error = read(r#"{"family": "charts"}"#).unwrap_err().to_string();
    assert!(error.contains("chart") && error.contains("paper"), "{error}");
}

//! The files beside the domain file.

use super::Options;
use super::nouns::{NounKind, Plan};

/// `train.toml` and `README.md`.
pub(super) fn others(plan: &Plan, options: &Options) -> Vec<(String, String)> {
    let file = |name: &str, text: String| (name.to_owned(), text);
    vec![file("train.toml", TRAIN.to_owned()), file("README.md", readme(plan, options))]
}

fn readme(plan: &Plan, options: &Options) -> String {
    let listed = plan.nouns.iter().filter(|noun| noun.kind == NounKind::Rows);
    let question = listed
        .max_by_key(|noun| noun.rows)
        .map_or_else(String::new, |noun| format!("how many {} are there", noun.many));
    README.replace("{name}", &options.name).replace("{question}", &question.replace('"', ""))
}

const README: &str = r#"# {name}

Questions about a database in plain language. `spanwise new {name} --from-db` wrote the first version from the tables of the database.

| file | what it is |
|---|---|
| `domain.toml` | the language: types, constants with their SQL, names, phrases |
| `train.toml` | how a parser is trained |
| `train.jsonl`, `dev.jsonl` | generated questions with their programs |

```sh
spanwise train train.toml --out model
spanwise parse model "{question}"
spanwise serve model
```

Then read `domain.toml`, change words and columns that read badly, and write questions with their programs into a file of your own: a few dozen
real ones are worth more than a thousand generated ones. `spanwise data generate domain.toml` writes new questions after a change, and
`spanwise update model` reads the names of the database again, without training.

The domain file holds no password. With PostgreSQL, it is taken from the environment variable `PGPASSWORD` or from `~/.pgpass`.
"#;

const TRAIN: &str = r#"# A run: `spanwise train train.toml --out model`. What is left out has a default; --set key=value changes anything.
domain = "domain.toml"
# Trained from nothing, which is enough to begin with. A directory with BERT, MiniLM or MPNet weights reads better.
encoder = "compact"

[data]
train = "train.jsonl"
dev = "dev.jsonl"

[model]
rare_below = 1
# Every part of a question is a run of words. With "open", functions are composed before their argument comes, which takes
# much more time with a language of this size.
discontinuity = "none"
# A noun need not be said where its kind is: *helmets* are products.
implicit = true
# Practise now and then with phrases alone: real questions have other words than generated ones.
label_dropout = 0.2

[training]
epochs = 8
batch = 8
rate_encoder = 0.002
"#;

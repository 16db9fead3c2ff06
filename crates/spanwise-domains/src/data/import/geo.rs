//! Converts the FunQL corpus of GeoQuery to the paper's three divisions: iid, by template, by length.
//!
//! The corpus is a list of records `id:`, `nl:` (the question) and `mrl:` (the program); other lines between them are
//! ignored. The iid division keeps the standard test set; the other two divide all examples anew. The seeds and
//! sizes are the paper's, so the examples and their order are those of its release.

use super::{ImportError, NamedSet, named_sets};
use crate::data::example::Example;
use crate::data::message::shown;
use crate::data::split::{self, Partition, Plan, Size};
use crate::data::template::template;
use hashbrown::HashSet;
use spanwise_lang::{TermId, Terms};

/// The predicates whose arguments name an entity.
const ENTITIES: [&str; 5] = ["stateid", "cityid", "countryid", "riverid", "placeid"];

/// The seed of the order in which templates are assigned.
const TEMPLATE_SEED: u64 = 10;

/// The seed of the division into train and dev.
const DEV_SEED: u64 = 0;

/// The files `train.jsonl`, `dev.jsonl` and `test.jsonl`, then the same with `_template` and `_length`.
///
/// One tenth of the standard train set is for development, in each division.
///
/// # Errors
/// Names the line of the corpus or of the ids that is not as expected.
pub fn geo(corpus: &str, train_ids: &str) -> Result<Vec<NamedSet>, ImportError> {
    let records = records(corpus)?;
    let train_ids = ids(train_ids, &records)?;
    // Standard train examples first: the paper's order, which the other divisions start from.
    let is_train = |record: &&Record<'_>| train_ids.contains(record.id);
    let (train, test): (Vec<&Record<'_>>, Vec<&Record<'_>>) = records.iter().partition(is_train);
    let (n_train, n_test) = (train.len(), test.len());
    let n_dev = n_train / 10;
    let records: Vec<&Record<'_>> = train.into_iter().chain(test).collect();
    let examples: Vec<Example> = records.iter().map(|record| record.example()).collect();

    let plan =
        Plan { test: Size::Count(n_test), dev: Size::Count(n_dev), seed: TEMPLATE_SEED, dev_seed: DEV_SEED };
    let test: Vec<usize> = (n_train..examples.len()).collect();
    let iid: Partition = split::draw_dev((0..n_train).collect(), test, n_dev, DEV_SEED);
    let by_template = split::by_template(&templates(&records)?, plan)?;
    let by_length = split::by_length(&lengths(&examples), plan)?;
    let divisions = [("", iid), ("_template", by_template), ("_length", by_length)];
    Ok(divisions.iter().flat_map(|(suffix, partition)| named_sets(suffix, &examples, partition)).collect())
}

/// One example of the corpus, with the line of its program.
struct Record<'a> {
    id: &'a str,
    question: &'a str,
    program: &'a str,
    program_line: usize,
}

impl Record<'_> {
    /// Question and program spaced as in the paper's release.
    fn example(&self) -> Example {
        let spaced = self.program.replace(')', " ) ").replace('(', " ( ").replace("  ", " ");
        let question = self.question.replace(" 's ", "'s ");
        Example { program: Some(spaced.trim().to_owned()), ..Example::new(question.trim()) }
    }
}

fn records(corpus: &str) -> Result<Vec<Record<'_>>, ImportError> {
    let mut records = Vec::new();
    let mut ids = HashSet::new();
    // The record under way: its id with the line of that, and its question.
    let (mut open, mut question) = (None, None);
    let wrong = |line, reason| ImportError::Corpus { line, reason };
    let unfinished =
        |(id, line): (&str, usize)| wrong(line, format!("the record with id `{}` has no `mrl:`", shown(id)));
    for (line_idx, line) in corpus.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = line_idx + 1;
        let missing =
            |field| wrong(line_number, format!("`{}` comes without `{field}` before it", shown(line)));
        if let Some(text) = line.strip_prefix("id:") {
            let id = text.trim();
            if let Some(open) = open.replace((id, line_number)) {
                return Err(unfinished(open));
            }
            if !ids.insert(id) {
                return Err(wrong(line_number, format!("there is another record with id `{}`", shown(id))));
            }
            question = None;
        } else if let Some(text) = line.strip_prefix("nl:") {
            if text.trim().is_empty() {
                return Err(wrong(line_number, "expected a question after `nl:`".to_owned()));
            }
            question = Some(text.trim());
        } else if let Some(text) = line.strip_prefix("mrl:") {
            records.push(Record {
                id: open.take().ok_or_else(|| missing("id:"))?.0,
                question: question.take().ok_or_else(|| missing("nl:"))?,
                program: text.trim(),
                program_line: line_number,
            });
        }
    }
    if let Some(open) = open {
        return Err(unfinished(open));
    }
    if records.is_empty() {
        return Err(ImportError::Nothing { expected: "records with `id:`, `nl:` and `mrl:`" });
    }
    Ok(records)
}

fn ids<'a>(train_ids: &'a str, records: &[Record<'_>]) -> Result<HashSet<&'a str>, ImportError> {
    let known: HashSet<&str> = records.iter().map(|record| record.id).collect();
    let mut ids = HashSet::new();
    for (line_idx, line) in train_ids.lines().enumerate() {
        let id = line.trim_start_matches('\u{feff}').trim();
        if id.is_empty() {
            continue;
        }
        if !known.contains(id) {
            let reason = format!("the corpus has no record with id `{}`", shown(id));
            return Err(ImportError::Ids { line: line_idx + 1, reason });
        }
        ids.insert(id);
    }
    Ok(ids)
}

fn templates(records: &[&Record<'_>]) -> Result<Vec<String>, ImportError> {
    let mut terms = Terms::new();
    let template_of = |record: &&Record<'_>| {
        let program = terms.parse(record.program).map_err(|diagnostic| ImportError::Corpus {
            line: record.program_line,
            reason: format!("the program cannot be read: {}", diagnostic.message),
        })?;
        Ok(template(&terms, program, entity_class))
    };
    records.iter().map(template_of).collect()
}

fn entity_class(terms: &Terms, term: TermId) -> Option<String> {
    let name = terms.head_text(term);
    ENTITIES.contains(&name).then(|| name.to_owned())
}

/// Lengths of programs in tokens between spaces, which is how the paper measured them.
fn lengths(examples: &[Example]) -> Vec<usize> {
    let program =
        |example: &Example| example.program.as_deref().unwrap_or_default().split_whitespace().count();
    examples.iter().map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(n: usize) -> String {
        let record = |id| {
            let program = match id % 3 {
                0 => format!("answer(capital(stateid('s{id}')))"),
                1 => format!("answer(largest(city(loc_2(stateid('s{id}')))))"),
                _ => format!("answer(len(riverid('r {id}')))"),
            };
            format!("id:{id}\nnl:what 's the thing {id} 's about ?\nmrl:{program}\nproductions:\n*n:x\n\n")
        };
        (0..n).map(record).collect()
    }

    #[test]
    fn there_are_three_divisions_with_their_file_names() {
        let train_ids: String = (0..20).map(|id| format!("{id}\r\n")).collect();
        let sets = geo(&corpus(30), &train_ids).unwrap();
        let sizes: Vec<_> = sets.iter().map(|set| (set.file_name.as_str(), set.examples.len())).collect();
        assert_eq!(sizes[..3], [("train.jsonl", 18), ("dev.jsonl", 2), ("test.jsonl", 10)]);
        assert_eq!(
            sizes[6..],
            [("train_length.jsonl", 18), ("dev_length.jsonl", 2), ("test_length.jsonl", 10)]
        );
        assert_eq!(sizes[3].0, "train_template.jsonl");
        let first_test = &sets[2].examples[0];
        assert_eq!(first_test.utterance, "what's the thing 20's about ?");
        assert_eq!(first_test.program.as_deref(), Some("answer ( len ( riverid ( 'r 20' ) ) )"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let check = |corpus: &str, ids: &str, message: &str| {
            assert_eq!(geo(corpus, ids).unwrap_err().to_string(), message);
        };
        check("", "", "no example found; expected records with `id:`, `nl:` and `mrl:`");
        check("id:1\nmrl:f(x)", "", "line 2 of the corpus: `mrl:f(x)` comes without `nl:` before it");
        check("nl:q\nmrl:f(x)", "", "line 2 of the corpus: `mrl:f(x)` comes without `id:` before it");
        check("id:1\nnl:", "", "line 2 of the corpus: expected a question after `nl:`");
        let good = "id:1\nnl:q\nmrl:f(x)\n";
        let unfinished = "line 4 of the corpus: the record with id `2` has no `mrl:`";
        check(&format!("{good}id:2\nnl:q\n"), "", unfinished);
        check(&format!("{good}id:2\nid:3\nnl:q\nmrl:f(x)\n"), "", unfinished);
        check(&good.repeat(2), "", "line 4 of the corpus: there is another record with id `1`");
        check(
            "id:1\nnl:q\nmrl:f(x)",
            "\n7\n",
            "line 2 of the train ids: the corpus has no record with id `7`",
        );
        check(
            "id:1\nnl:q\nmrl:f(x",
            "1",
            "line 3 of the corpus: the program cannot be read: this parenthesis is never closed",
        );
        check(
            "id:1\nnl:q\nmrl:f(x)",
            "",
            "cannot take 1 test and 0 dev examples from 1: nothing is left for training",
        );
    }
}

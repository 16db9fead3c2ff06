//! Readers for the keys of a domain file.

use super::values::FileReader;
use super::{
    AccumulatorDecl, AnnotationFile, At, ConstantDecl, DomainFile, EntityDecl, ExecutorChoice, FORMAT,
    ImplicitDecl, PredicateDecl, TypeSystemDecl,
};
use crate::diag::Diagnostic;
use crate::domain::constant::Omission;
use crate::language::{self, LANGUAGES, Language};
use crate::surface::Style;
use crate::types::TypeDecl;
use std::ops::Range;
use std::time::Duration;
use toml_edit::TableLike;

/// Reads a domain file. Errors go to `problems`.
pub(super) fn domain(source: &str, top: &dyn TableLike, problems: &mut Vec<Diagnostic>) -> DomainFile {
    FileReader { source, problems }.domain(top)
}

/// Reads a file of phrases. Errors go to `problems`.
pub(super) fn annotation(
    source: &str,
    top: &dyn TableLike,
    problems: &mut Vec<Diagnostic>,
) -> AnnotationFile {
    let mut reader = FileReader { source, problems };
    reader.only(top, &["format", "prefer", "phrases"], "a file of phrases");
    reader.format(top);
    let prefer = top.contains_key("prefer").then(|| reader.texts(top, "prefer"));
    AnnotationFile { phrases: reader.phrase_table(top, "phrases"), prefer }
}

/// Most implicit constants that may be inserted one above the other. Each is a layer of every cell of a chart.
const MAX_CHAIN: usize = 8;

const TOP_KEYS: &[&str] = &[
    "format",
    "name",
    "about",
    "types",
    "gap",
    "no_meaning",
    "language",
    "inflections",
    "root",
    "surface",
    "constants",
    "lexicon",
    "synonyms",
    "only_phrases",
    "phrases",
    "implicit_chain",
    "predicates",
    "entities",
    "literals",
    "contrasts",
    "accumulators",
    "sets",
    "executor",
    "say",
    "type_systems",
];

impl FileReader<'_> {
    fn domain(&mut self, top: &dyn TableLike) -> DomainFile {
        self.only(top, TOP_KEYS, "a domain file");
        self.format(top);
        let name = self.text(top, "name").unwrap_or_else(|| {
            self.missing(0..0, "name", "the domain");
            At { value: "unnamed".to_owned(), range: 0..0 }
        });
        let (root, wrap) = self.root(top);
        let (executor, executor_range) = self.executor(top);
        let inflections = self.language(top, "inflections");
        DomainFile {
            name,
            about: self.text(top, "about").map(|about| about.value).unwrap_or_default(),
            types: self.types(top),
            gap: self.text(top, "gap"),
            no_meaning: self.texts(top, "no_meaning"),
            language: self.language(top, "language").or(inflections),
            inflections,
            root,
            wrap,
            style: self.style(top),
            constants: self.constants(top),
            lexicon: self.phrase_table(top, "lexicon"),
            synonyms: self.phrase_table(top, "synonyms"),
            only_phrases: self.texts(top, "only_phrases"),
            phrases: self.phrase_table(top, "phrases"),
            implicit_chain: self.implicit_chain(top),
            predicates: self.predicates(top),
            entities: self.classes(top),
            contrasts: self.contrasts(top),
            accumulators: self.accumulators(top),
            sets: self.sets(top),
            executor,
            executor_range,
            type_systems: self.type_systems(top),
            says: self.says(top),
        }
    }

    fn language(&mut self, top: &dyn TableLike, key: &str) -> Option<&'static Language> {
        let name = self.text(top, key).filter(|name| name.value != "none")?;
        let found = language::find(&name.value);
        if found.is_none() {
            let known: String = LANGUAGES.iter().map(|language| format!("`{}`, ", language.name)).collect();
            let message = format!("unknown language `{}`, expected one of {known}`none`", name.value);
            self.problems.push(Diagnostic::new(name.range, message));
        }
        found
    }

    fn format(&mut self, top: &dyn TableLike) {
        let Some(item) = top.get("format") else { return };
        match item.as_integer() {
            Some(version) if (1..=FORMAT).contains(&version) => {}
            Some(version) => {
                let message =
                    format!("format {version} is not known to this build, which reads up to {FORMAT}");
                self.problem(item, message);
            }
            None => self.wrong(item, "format", "a number"),
        }
    }

    fn root(&mut self, top: &dyn TableLike) -> (Vec<At<String>>, Option<At<String>>) {
        let Some(table) = self.table(top, "root") else {
            self.missing(0..0, "root", "the domain");
            return (Vec::new(), None);
        };
        self.only(table, &["types", "wrap"], "[root]");
        let types = self.texts(table, "types");
        if types.is_empty() {
            let range = self.key_range(top, "root");
            self.missing(range, "types", "[root]");
        }
        (types, self.text(table, "wrap"))
    }

    fn style(&mut self, top: &dyn TableLike) -> Style {
        let mut style = Style::default();
        let Some(table) = self.table(top, "surface") else { return style };
        self.only(table, &["spaced", "comma"], "[surface]");
        style.spaced = self.flag(table, "spaced");
        if let Some(comma) = self.text(table, "comma") {
            if comma.value.trim() == "," {
                style.comma = comma.value;
            } else {
                self.problems
                    .push(Diagnostic::new(comma.range, "`comma` must be a comma with optional spaces"));
            }
        }
        style
    }

    /// `"Number"`, or `"State, City < Named, Known"`.
    fn types(&mut self, table: &dyn TableLike) -> Vec<TypeDecl> {
        let mut decls = Vec::new();
        for text in self.texts(table, "types") {
            let (names, parents) = match text.value.split_once('<') {
                Some((names, parents)) => (names, Some((parents, text.range.start + names.len() + 1))),
                None => (text.value.as_str(), None),
            };
            let parents = parents.map(|(parents, at)| self.type_names(parents, at)).unwrap_or_default();
            let names = self.type_names(names, text.range.start);
            decls.extend(names.into_iter().map(|name| TypeDecl { name, parents: parents.clone() }));
        }
        decls
    }

    /// Names between commas.
    fn type_names(&mut self, text: &str, start: usize) -> Vec<(String, Range<usize>)> {
        let mut at = start;
        let mut names = Vec::new();
        for name in text.split(',') {
            names.extend(self.type_name(name, at));
            at += name.len() + 1;
        }
        names
    }

    fn type_name(&mut self, text: &str, start: usize) -> Option<(String, Range<usize>)> {
        let at = start + (text.len() - text.trim_start().len());
        let name = text.trim();
        let range = at..at + name.len();
        let good = name.starts_with(char::is_alphabetic)
            && name.chars().all(|ch| ch.is_alphanumeric() || ch == '_')
            && !matches!(name, "where" | "in");
        if good {
            return Some((name.to_owned(), range));
        }
        self.problems.push(
            Diagnostic::new(range, format!("`{name}` is not a type name"))
                .hint("write `Number`, or `State, City < Named` for subtypes"),
        );
        None
    }

    fn constants(&mut self, top: &dyn TableLike) -> Vec<ConstantDecl> {
        let Some(table) = self.table(top, "constants") else { return Vec::new() };
        let mut decls = Vec::new();
        for (key, item) in table.iter() {
            let name = At { value: key.to_owned(), range: self.key_range(table, key) };
            let decl = match item.as_table_like() {
                None => {
                    let types = self.text_list(item, key);
                    ConstantDecl {
                        name,
                        types,
                        form: None,
                        implicit: ImplicitDecl::No,
                        omission: Omission::Free,
                    }
                }
                Some(long) => {
                    self.only(
                        long,
                        &["type", "form", "implicit", "must_be_used", "about", "say", "weight"],
                        "a constant",
                    );
                    let types = long.get("type").map(|item| self.text_list(item, "type")).unwrap_or_default();
                    let form = self.text(long, "form");
                    self.text(long, "about");
                    let (implicit, omission) = (self.implicit(long), self.omission(long));
                    ConstantDecl { name, types, form, implicit, omission }
                }
            };
            if decl.types.is_empty() {
                self.missing(decl.name.range.clone(), "type", &format!("constant `{key}`"));
            }
            decls.push(decl);
        }
        decls
    }

    /// `true`, `false`, or a list of numbers of arguments.
    fn implicit(&mut self, constant: &dyn TableLike) -> ImplicitDecl {
        let Some(item) = constant.get("implicit") else { return ImplicitDecl::No };
        if let Some(is_implicit) = item.as_bool() {
            return if is_implicit { ImplicitDecl::Yes } else { ImplicitDecl::No };
        }
        let number = |value: &toml_edit::Value| {
            let number = value.as_integer().and_then(|number| usize::try_from(number).ok())?;
            Some(At { value: number, range: value.span().unwrap_or(0..0) })
        };
        let numbers = item.as_array().map(|array| array.iter().map(number).collect::<Option<Vec<_>>>());
        match numbers.flatten().filter(|numbers| !numbers.is_empty()) {
            Some(numbers) => ImplicitDecl::With(numbers),
            None => {
                self.wrong(item, "implicit", "true, false, or a list of numbers of arguments such as [0, 1]");
                ImplicitDecl::No
            }
        }
    }

    fn implicit_chain(&mut self, top: &dyn TableLike) -> usize {
        let Some(item) = top.get("implicit_chain") else { return 1 };
        let number = item.as_integer().and_then(|number| usize::try_from(number).ok());
        number.filter(|number| (1..=MAX_CHAIN).contains(number)).unwrap_or_else(|| {
            self.wrong(item, "implicit_chain", &format!("a number from 1 to {MAX_CHAIN}"));
            1
        })
    }

    /// A table of lists of texts: the lexicon, and the signatures of a type system.
    pub(super) fn phrase_table(
        &mut self,
        parent: &dyn TableLike,
        key: &str,
    ) -> Vec<(At<String>, Vec<At<String>>)> {
        let Some(table) = self.table(parent, key) else { return Vec::new() };
        table
            .iter()
            .map(|(name, item)| {
                let at = At { value: name.to_owned(), range: self.key_range(table, name) };
                (at, self.text_list(item, name))
            })
            .collect()
    }

    fn entity(&mut self, table: &dyn TableLike) -> Option<EntityDecl> {
        let keys = [
            "class",
            "type",
            "form",
            "table",
            "names",
            "phrases",
            "aliases",
            "open",
            "max_words",
            "capitals",
            "must_be_used",
            "say",
            "weight",
        ];
        self.only(table, &keys, "[[entities]]");
        let range = self.table_range(table);
        let class = self.required(table, "class", "[[entities]]", range.clone());
        let ty = self.required(table, "type", "[[entities]]", range.clone());
        let form = self.required(table, "form", "[[entities]]", range.clone());
        let (open, text) = self.open(table);
        let decl = EntityDecl {
            class: class?,
            ty: ty?,
            form: form?,
            tables: self.texts(table, "table"),
            names: self.texts(table, "names"),
            phrases: self.texts(table, "phrases"),
            aliases: self.phrase_table(table, "aliases"),
            open,
            text,
            recognizer: None,
            omission: self.omission(table),
        };
        if decl.tables.is_empty() && decl.names.is_empty() && !decl.open {
            let problem =
                Diagnostic::new(range, format!("entity class `{}` has no members", decl.class.value));
            self.problems.push(problem.hint("give `table`, `names`, or `open = true`"));
        }
        Some(decl)
    }

    fn predicates(&mut self, top: &dyn TableLike) -> Vec<PredicateDecl> {
        let mut decls = Vec::new();
        for table in self.tables(top, "predicates") {
            let keys = ["class", "type", "form", "table", "phrases", "must_be_used", "say", "weight"];
            self.only(table, &keys, "[[predicates]]");
            let range = self.table_range(table);
            let class = self.required(table, "class", "[[predicates]]", range.clone());
            let form = self.required(table, "form", "[[predicates]]", range.clone());
            let types = self.texts(table, "type");
            let (tables, phrases) = (self.texts(table, "table"), self.texts(table, "phrases"));
            for (key, is_empty) in [
                ("type", types.is_empty()),
                ("table", tables.is_empty()),
                // Without phrases, they would be allowed on no words.
                ("phrases", phrases.is_empty()),
            ] {
                if is_empty {
                    self.missing(range.clone(), key, "[[predicates]]");
                }
            }
            let (Some(class), Some(form), Some(ty)) = (class, form, types.first().cloned()) else { continue };
            let rows = EntityDecl {
                class,
                ty,
                form,
                tables,
                names: Vec::new(),
                phrases,
                aliases: Vec::new(),
                open: false,
                text: None,
                recognizer: None,
                omission: self.omission(table),
            };
            decls.push(PredicateDecl { rows, types });
        }
        decls
    }

    /// Entity classes, then classes of literals.
    fn classes(&mut self, top: &dyn TableLike) -> Vec<EntityDecl> {
        let entities = self.tables(top, "entities").into_iter().filter_map(|table| self.entity(table));
        let mut classes: Vec<EntityDecl> = entities.collect();
        classes.extend(self.tables(top, "literals").into_iter().filter_map(|table| self.literal(table)));
        classes
    }

    fn accumulators(&mut self, parent: &dyn TableLike) -> Vec<AccumulatorDecl> {
        let mut decls = Vec::new();
        for table in self.tables(parent, "accumulators") {
            let keys = ["head", "elements", "over", "result", "default", "say", "weight"];
            self.only(table, &keys, "[[accumulators]]");
            let range = self.table_range(table);
            let head = self.required(table, "head", "[[accumulators]]", range.clone());
            let over = self.required(table, "over", "[[accumulators]]", range.clone());
            let result = self.required(table, "result", "[[accumulators]]", range.clone());
            let elements = self.texts(table, "elements");
            let default = self.text(table, "default");
            if elements.is_empty() {
                self.missing(range, "elements", "[[accumulators]]");
            }
            if let (Some(head), Some(over), Some(result)) = (head, over, result) {
                let (over, unique) = (Some(over), Vec::new());
                decls.push(AccumulatorDecl { head, elements, over, result, default, unique });
            }
        }
        decls
    }

    fn sets(&mut self, parent: &dyn TableLike) -> Vec<AccumulatorDecl> {
        let mut decls = Vec::new();
        for table in self.tables(parent, "sets") {
            self.only(table, &["head", "elements", "result", "unique", "say", "weight"], "[[sets]]");
            let range = self.table_range(table);
            let head = self.required(table, "head", "[[sets]]", range.clone());
            let result = self.required(table, "result", "[[sets]]", range.clone());
            let elements = self.texts(table, "elements");
            if elements.is_empty() {
                self.missing(range, "elements", "[[sets]]");
            }
            if let (Some(head), Some(result)) = (head, result) {
                let (over, default, unique) = (None, None, self.texts(table, "unique"));
                decls.push(AccumulatorDecl { head, elements, over, result, default, unique });
            }
        }
        decls
    }

    /// How programs are evaluated, and the position of that choice.
    fn executor(&mut self, top: &dyn TableLike) -> (ExecutorChoice, Range<usize>) {
        let range = self.key_range(top, "executor");
        let Some(table) = self.table(top, "executor") else { return (ExecutorChoice::None, range) };
        let keys = ["builtin", "command", "url", "token_env", "timeout_seconds", "processes"];
        self.only(table, &keys, "[executor]");
        let timeout = self.timeout(table);
        let processes = self.processes(table);
        let builtin = self.text(table, "builtin");
        let command = self.texts(table, "command");
        let url = self.text(table, "url");
        let token_env = self.text(table, "token_env").map(|name| name.value);
        match (builtin, command.first().map(|word| word.range.clone()), url) {
            (Some(name), None, None) => {
                self.useless(table, "token_env", "`url`");
                self.useless(table, "timeout_seconds", "`command` and `url`");
                self.useless(table, "processes", "`command`");
                let range = name.range.clone();
                (ExecutorChoice::Builtin(name), range)
            }
            (None, Some(range), None) => {
                self.useless(table, "token_env", "`url`");
                let argv = command.into_iter().map(|word| word.value).collect();
                (ExecutorChoice::Command { argv, timeout, processes }, range)
            }
            (None, None, Some(url)) => {
                self.useless(table, "processes", "`command`");
                (ExecutorChoice::Url { url: url.value, token_env, timeout }, url.range)
            }
            _ => {
                let message = "[executor] needs exactly one of `builtin`, `command` and `url`";
                self.problems.push(Diagnostic::new(range.clone(), message));
                (ExecutorChoice::None, range)
            }
        }
    }

    /// Reports a key that belongs to another kind of executor.
    fn useless(&mut self, table: &dyn TableLike, key: &str, partners: &str) {
        if table.get(key).is_some() {
            let range = self.key_range(table, key);
            self.problems.push(Diagnostic::new(range, format!("`{key}` goes with {partners} only")));
        }
    }

    fn timeout(&mut self, table: &dyn TableLike) -> Duration {
        let fallback = Duration::from_secs(10);
        let Some(item) = table.get("timeout_seconds") else { return fallback };
        let seconds = item.as_float().or_else(|| item.as_integer().map(|whole| whole as f64));
        match seconds.filter(|&s| s > 0.0 && s <= 86_400.0) {
            Some(seconds) => Duration::from_secs_f64(seconds),
            None => {
                self.wrong(item, "timeout_seconds", "a number of seconds between 0 and 86400");
                fallback
            }
        }
    }

    fn processes(&mut self, table: &dyn TableLike) -> usize {
        let fallback = 4;
        let Some(item) = table.get("processes") else { return fallback };
        match item.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=64).contains(n)) {
            Some(n) => n,
            None => {
                self.wrong(item, "processes", "a number of processes from 1 to 64");
                fallback
            }
        }
    }

    fn type_systems(&mut self, top: &dyn TableLike) -> Vec<TypeSystemDecl> {
        let Some(systems) = self.table(top, "type_systems") else { return Vec::new() };
        let mut decls = Vec::new();
        for (key, _) in systems.iter() {
            let Some(table) = self.table(systems, key) else { continue };
            let name = At { value: key.to_owned(), range: self.key_range(systems, key) };
            self.only(
                table,
                &["about", "types", "root", "constants", "entities", "accumulators", "sets"],
                "a type system",
            );
            self.text(table, "about");
            let entities = self.class_types(table);
            let accumulators = table.get("accumulators").is_some().then(|| self.accumulators(table));
            let sets = table.get("sets").is_some().then(|| self.sets(table));
            let decl = TypeSystemDecl {
                name,
                types: self.types(table),
                root: self.texts(table, "root"),
                constants: self.phrase_table(table, "constants"),
                entities,
                accumulators,
                sets,
            };
            if decl.root.is_empty() {
                self.missing(decl.name.range.clone(), "root", &format!("type system `{key}`"));
            }
            decls.push(decl);
        }
        decls
    }

    /// The type of each entity class: one text, or a list of one.
    fn class_types(&mut self, system: &dyn TableLike) -> Vec<(At<String>, At<String>)> {
        let Some(table) = self.table(system, "entities") else { return Vec::new() };
        let mut decls = Vec::new();
        for (key, item) in table.iter() {
            let class = At { value: key.to_owned(), range: self.key_range(table, key) };
            let mut types = self.text_list(item, key);
            let n_types = item.as_array().map_or(1, toml_edit::Array::len);
            if n_types != 1 {
                let message = format!("entity class `{key}` must have exactly one type, found {n_types}");
                self.problems.push(Diagnostic::new(class.range, message));
            } else if let Some(ty) = types.pop() {
                decls.push((class, ty));
            }
        }
        decls
    }
}

//! Ways between nouns: *orders of Ann*, *customers with orders*, *customers who bought Summit*, *without*, *most*, *more than 5*.

use super::events::verb;
use super::{Rules, free, is_asked, keys, rank, strs, ty};
use crate::scaffold::english;
use crate::scaffold::language::Class;
use crate::scaffold::names;
use crate::scaffold::nouns::NounKind;
use crate::scaffold::paths::{self, Path};

impl Rules<'_> {
    pub(super) fn relations(&mut self) {
        for place in 0..self.plan.nouns.len() {
            if !is_asked(self.noun(place)) {
                continue;
            }
            self.roles(place);
            for path in self.paths[place].clone() {
                self.path(&path);
                self.popular(&path);
            }
        }
        for (name, phrases) in [
            ("of", &["of", "by", "from", "in", "for"][..]),
            ("with", &["with", "have", "has"]),
            ("without", &["without", "no", "never"]),
            ("most", &["most"]),
            ("fewest", &["fewest", "least"]),
        ] {
            if self.language.has(name) {
                self.language.phrases(name, phrases);
            }
        }
        self.language.weight("of", 0.7);
    }

    pub(super) fn path(&mut self, path: &Path) {
        let end = self.noun(path.to);
        let is_plain = path.steps.iter().all(|step| !self.plan.links[step.link].has_role);
        // Ways back from values lead nowhere new.
        let starts_at_values = self.noun(path.from).kind == NounKind::Values;
        if !is_asked(end) || !is_plain || (starts_at_values && (path.steps.len() > 1 || path.is_functional()))
        {
            return;
        }
        let n_down = path.steps.iter().filter(|step| step.is_down).count();
        let is_joined = self.is_joined(path);
        let is_place =
            end.kind == NounKind::Values && english::has_any(&names::words(&end.one), english::PLACES);
        let is_detail = self.noun(path.from).is_detail || end.is_detail;
        match (n_down, path.steps.len()) {
            (0, 1) => self.up(path),
            (0, 2) if !is_detail && (end.kind == NounKind::Rows || is_place) => self.up(path),
            (1, 1) if !is_detail => self.down(path, true),
            // Detail rows say little by themselves, but they can be counted.
            (1, 1) if end.is_detail => self.down(path, false),
            (1, 2) if is_joined => {
                self.up(path);
                self.down(path, true);
            }
            (1, 2) if is_place || (end.kind == NounKind::Values && self.is_extension(path)) => {
                self.class(path)
            }
            (1.., 2..) if n_down < path.steps.len() && self.meets(path) => self.event(path),
            _ => {}
        }
    }

    /// Things by what they belong to: *orders of customers from Berlin*, *orders of Ann Smith*.
    pub(super) fn up(&mut self, path: &Path) {
        let end = self.noun(path.to);
        self.class(path);
        if end.kind == NounKind::Values {
            return;
        }
        let sql = self.reached(path, &format!("{} in ({{1}})", paths::key(end, &path.last())));
        let role = english::ROLES.iter().find(|(role, ..)| end.one == *role);
        let mut say: Vec<String> = ["of {1}", "by {1}", "from {1}", "for {1}"].map(str::to_owned).to_vec();
        if english::has_any(&names::words(&end.one), english::SITES)
            || english::has_any(&names::words(&end.one), english::KINDS)
        {
            say = ["in {1}", "of {1}", "from {1}", "at {1}"].map(str::to_owned).to_vec();
        }
        if let Some((_, words, _)) = role.filter(|_| path.steps.len() == 1) {
            say.extend(words.iter().map(|words| format!("{words} {{1}}")));
        }
        self.filter(path.from, "of", &ty(end, "Rows"), sql, &strs(&say));
    }

    /// A class of names that narrow a noun by themselves: *Berlin* for customers, *Mountain Bikes* for products.
    pub(super) fn class(&mut self, path: &Path) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let Some(label) = &end.label else { return };
        let (source, alias) = self.shortened(path);
        let label_sql = match alias {
            Some((alias, own)) => paths::on(&own, &alias),
            None => paths::on(label, &path.last()),
        };
        let sql = format!("select {} from {source} where {label_sql} = {{name}}", paths::key(noun, "t0"));
        let what = names::words(&end.one);
        let text = &end.one;
        let is_kind = path.steps.len() == 1 && english::has_any(&what, english::KINDS)
            || end.kind == NounKind::Values && !english::has_any(&what, english::PLACES);
        let is_place = english::has_any(&what, english::PLACES);
        let is_joined = path.steps.iter().any(|step| step.is_down) && self.is_joined(path);
        let (result, say) = if is_kind && path.steps.len() == 1 || is_joined {
            let say = [
                "{name}".to_owned(),
                "{name}".to_owned(),
                "{name}".to_owned(),
                format!("{text} {{name}}"),
                format!("{{name}} {text}"),
            ];
            (self.kind(path.from), say.to_vec())
        } else {
            self.has_filters[path.from] = true;
            let mut say = if is_place {
                vec!["from {name}", "in {name}", "from {name}", "in {name}"]
            } else if end.is_person {
                vec!["of {name}", "by {name}", "from {name}", "for {name}"]
            } else if english::has_any(&what, english::SITES) {
                vec!["in {name}", "at {name}", "from {name}", "of {name}"]
            } else if english::has_any(&what, english::KINDS) {
                vec!["in {name}", "of {name}"]
            } else {
                vec!["of {name}", "by {name}", "from {name}", "for {name}"]
            };
            if is_place && noun.is_person {
                say.extend(["who live in {name}", "living in {name}", "live in {name}"]);
            } else if is_place {
                say.extend(["located in {name}", "based in {name}"]);
            }
            if end.is_person && verb(&noun.one).is_some() && path.steps.len() == 1 {
                let is_staff = end.one.split(' ').any(|word| english::STAFF.contains(&word));
                say.extend(if is_staff {
                    ["handled by {name}", "{name} handled", "that {name} took", "did {name} handle"]
                } else {
                    ["placed by {name}", "{name} placed", "that {name} made", "has {name} placed"]
                });
            }
            if path.steps.len() == 1 && !is_place {
                say.extend(["does {name} have", "that {name} has"]);
            }
            let mut say: Vec<String> = say.into_iter().map(str::to_owned).collect();
            if path.steps.len() == 1 {
                let role = english::ROLES.iter().find(|(role, ..)| end.one == *role);
                say.extend(
                    role.into_iter()
                        .flat_map(|(_, words, _)| words.iter().map(|words| format!("{words} {{name}}"))),
                );
            }
            say.push(format!("with {text} {{name}}"));
            say.push(format!("in the {text} {{name}}"));
            (ty(noun, "Filter"), say)
        };
        let is_category = english::has_any(&what, english::CATEGORIES) && path.steps.len() == 1;
        let mut say = say;
        if is_category {
            self.language.implicit(&free(&noun.name));
            self.is_implicit[path.from] = true;
            say.push("{other}".to_owned());
        }
        let class = Class {
            phrases: if is_category { vec!["{name}".to_owned(), "{other}".to_owned()] } else { Vec::new() },
            name: format!("{} by {} of {}", noun.title, end.one, end.title),
            ty: result,
            form: format!("by_{}_{}('{{name}}')", noun.ty.to_lowercase(), end.ty.to_lowercase()),
            table: super::sets::names_query(end, is_category),
            sql,
            say,
            weight: Some(if path.steps.len() == 1 { 2.0 } else { 0.8 }),
        };
        if self.language.classes.iter().all(|known| known.form != class.form) {
            self.language.classes.push(class);
        }
    }

    pub(super) fn is_joined(&self, path: &Path) -> bool {
        let inner = path.nouns(self.plan);
        inner[1..inner.len() - 1].iter().all(|noun| self.noun(*noun).kind == NounKind::Junction)
    }

    /// The joins of a path. A last step to the values of a column needs no join; the alias and the expression of the column.
    pub(super) fn shortened(&self, path: &Path) -> (String, Option<(String, String)>) {
        let last = path.steps.last().map(|step| (&self.plan.links[step.link], step.is_down));
        if let Some((link, false)) = last
            && self.noun(path.to).kind == NounKind::Values
        {
            let steps = path.steps[..path.steps.len() - 1].to_vec();
            let shorter = Path { from: path.from, to: link.child, steps };
            return (shorter.joins(self.plan, "join"), Some((shorter.last(), link.on[0].0.clone())));
        }
        (path.joins(self.plan, "join"), None)
    }

    /// The keys at the beginning of a path with a condition on its end.
    pub(super) fn reached(&self, path: &Path, condition: &str) -> super::Sql {
        let noun = self.noun(path.from);
        let key = paths::key(noun, "t0");
        let distinct = if path.is_functional() { "" } else { "distinct " };
        keys(format!("select {distinct}{key} from {} where {condition}", path.joins(self.plan, "join")))
    }

    /// Things by what belongs to them: *customers with orders over $100*, *without*, *with the most*, *with more than 5*.
    pub(super) fn down(&mut self, path: &Path, with_counts: bool) {
        let (noun, end) = (self.noun(path.from), self.noun(path.to));
        let (rows, chosen, theirs) = (ty(noun, "Set"), ty(noun, "Best"), ty(end, "Set"));
        let (key, other) = (paths::key(noun, "t0"), paths::key(end, &path.last()));
        let within = format!("{other} in ({{1}})");
        let verbs = verb(&end.one).filter(|_| noun.is_person);
        let slot = if self.language.has_type(&ty(end, "One")) { ty(end, "Any") } else { theirs.clone() };
        let mut say: Vec<String> =
            ["with {1}", "that have {1}", "of {1}", "who have {1}", "have {1}"].map(str::to_owned).to_vec();
        let role = english::ROLES.iter().find(|(role, ..)| noun.one == *role);
        say.extend(
            role.into_iter().flat_map(|(.., words)| words.iter().map(|words| format!("{words} {{1}}"))),
        );
        if verbs.is_some() {
            say.extend(["who placed {1}", "who made {1}"].map(str::to_owned));
        }
        self.filter(path.from, "with", &slot, self.reached(path, &within), &strs(&say));
        let none =
            format!("select {key} from {} as t0 where not {}", noun.source, path.exists(self.plan, &within));
        let say = [
            "without {1}",
            "with no {1}",
            "that have no {1}",
            "who have no {1}",
            "that do not have any {1}",
            "without any {1}",
            "that never had {1}",
            "have no {1}",
        ];
        self.filter(path.from, "without", &theirs, keys(none), &say);
        if let Some(verb) = verb(&end.one).filter(|_| path.steps.len() == 1) {
            self.ever(path, verb);
        }
        if !with_counts {
            return;
        }
        for (name, order, words) in [("most", "desc", "most"), ("fewest", "asc", "fewest")] {
            let join = self.counted(path, &within);
            let best = format!(
                "select key from (select key, rank() over (order by number {order}) as place from ({join}) as c where key in ({{2}})) as s where place = 1"
            );
            let say = [
                format!("{{2}} with the {words} {{1}}"),
                format!("the {{2}} with the {words} {{1}}"),
                format!("{{2}} that have the {words} {{1}}"),
                format!("{{2}} has the {words} {{1}}"),
                format!("{{2}} have the {words} {{1}}"),
            ];
            self.language.add(name, format!("{theirs}, {rows} -> {chosen}"), keys(best), &strs(&say));
            if name == "fewest" {
                continue;
            }
            let join = self.counted(path, &format!("{other} in ({{2}})"));
            let several = format!(
                "select key, row_number() over (order by number {order}, key) from ({join}) as c where key in ({{3}}) order by number {order}, key limit {{1:value}}"
            );
            let say = [
                format!("the {{1}} {{3}} with the {words} {{2}}"),
                format!("{{1}} {{3}} with the {words} {{2}}"),
                format!("top {{1}} {{3}} with the {words} {{2}}"),
                "top {1} {3} by number of {2}".to_owned(),
            ];
            self.language.add(
                name,
                format!("Whole, {theirs}, {rows} -> {chosen}"),
                rank(several),
                &strs(&say),
            );
        }
        for (name, operator, words) in [
            ("over", ">", &["more than", "over"][..]),
            ("under", "<", &["fewer than", "less than"]),
            ("at_least", ">=", &["at least"]),
            ("exactly", "=", &["exactly", "just", "only"]),
        ] {
            let sql = format!(
                "select key from ({}) as c where number {operator} {{1:value}}",
                self.counted(path, &format!("{other} in ({{2}})"))
            );
            let say: Vec<String> = words
                .iter()
                .flat_map(|word| {
                    [
                        format!("with {word} {{1}} {{2}}"),
                        format!("that have {word} {{1}} {{2}}"),
                        format!("who have {word} {{1}} {{2}}"),
                        format!("have {word} {{1}} {{2}}"),
                    ]
                })
                .collect();
            self.filter(path.from, name, &format!("Whole, {theirs}"), keys(sql), &strs(&say));
            self.language.phrases(name, words);
        }
        self.language.weight("exactly", 0.3);
    }

    /// Keys of the noun with the number of rows at the other end that satisfy a condition, zeros too.
    pub(super) fn counted(&self, path: &Path, condition: &str) -> String {
        let noun = self.noun(path.from);
        let key = paths::key(noun, "t0");
        let other = paths::key(self.noun(path.to), &path.last());
        let joins = path.joins(self.plan, "left join");
        format!(
            "select {key} as key, count(distinct case when {condition} then {other} end) as number from {joins} group by {key}"
        )
    }

    /// Whether the rows under a noun are about as many as its own: the shipments of orders, which say more about an order.
    pub(super) fn is_extension(&self, path: &Path) -> bool {
        let nouns = path.nouns(self.plan);
        let (own, below) = (self.noun(nouns[0]).rows, self.noun(nouns[1]).rows);
        below * 2 <= own * 3 && self.noun(path.from).kind == NounKind::Rows
    }
}

//! References with a role of their own: *orders shipped to Berlin*, *the manager of Ann*.

use super::{Rules, free, is_asked, keys, strs, ty};
use crate::scaffold::english;
use crate::scaffold::names;
use crate::scaffold::nouns::NounKind;
use crate::scaffold::paths::{self, Path};

impl Rules<'_> {
    /// References with a role of their own: *orders shipped to*, *the manager of*.
    pub(super) fn roles(&mut self, place: usize) {
        for (number, link) in self.plan.links.iter().enumerate() {
            if link.child != place || !link.has_role || !is_asked(self.noun(link.parent)) {
                continue;
            }
            let end = self.noun(link.parent);
            let up = Path::one(self.plan, number, false);
            let words = english::ROLES
                .iter()
                .find(|(role, ..)| link.role == *role || link.role.ends_with(&format!(" {role}")));
            let role = if link.role.is_empty() { &end.one } else { &link.role };
            let name = free(&names::snake(&names::words(role), "role"));
            let mut say: Vec<String> = words
                .into_iter()
                .flat_map(|(_, words, _)| words.iter().map(|words| format!("{words} {{1}}")))
                .collect();
            say.extend([format!("with {role} {{1}}"), format!("whose {role} is {{1}}")]);
            let sql = self.reached(&up, &format!("{} in ({{1}})", paths::key(end, "t1")));
            self.filter(place, &name, &ty(end, "Any"), sql.clone(), &strs(&say));
            let is_self = link.child == link.parent;
            if self.ends_in_place(link.parent) && !is_self {
                let say: Vec<String> =
                    say[..say.len() - 2].iter().cloned().chain([format!("with {role} {{1}}")]).collect();
                self.filter(place, &name, &ty(end, "Filters"), sql, &strs(&say));
                self.has_filters[link.parent] = true;
            }
            let noun = self.noun(place);
            let of = format!("{name}_of");
            let down = format!(
                "select distinct {} from {} where {} in ({{1}})",
                paths::key(end, "t1"),
                up.joins(self.plan, "join"),
                paths::key(noun, "t0")
            );
            let mut say = vec![
                format!("the {role} of {{1}}"),
                format!("{role} of {{1}}"),
                format!("{{1}}'s {role}"),
                format!("{{1}} {role}"),
            ];
            say.extend(
                words.into_iter().flat_map(|(.., words)| words.iter().map(|words| format!("{words} {{1}}"))),
            );
            self.language.add(
                &of,
                format!("{} -> {}", ty(noun, "Any"), ty(end, "Rows")),
                keys(down),
                &strs(&say),
            );
            let mut phrases = vec![role.as_str()];
            phrases.extend(words.into_iter().flat_map(|(_, words, _)| words.iter().copied()));
            self.language.phrases(&name, &phrases);
            self.language.phrases(&of, &[role]);
            if self.plan.links[number].is_nullable {
                let none = format!(
                    "select {} from {} as t0 where not {}",
                    paths::key(noun, "t0"),
                    noun.source,
                    up.exists(self.plan, "1 = 1")
                );
                let name = format!("no_{name}");
                let say = [
                    format!("without {role}"),
                    format!("without a {role}"),
                    format!("with no {role}"),
                    format!("that have no {role}"),
                ];
                self.filter(place, &name, "", keys(none), &strs(&say));
                self.language.phrases(&name, &[&format!("no {role}"), &format!("without {role}")]);
            }
        }
    }

    /// Whether a noun has a column with places, so that *shipped to Berlin* makes sense.
    pub(super) fn ends_in_place(&self, noun: usize) -> bool {
        let leads = |path: &Path| {
            let end = self.noun(path.to);
            path.steps.len() == 1
                && end.kind == NounKind::Values
                && english::has_any(&names::words(&end.one), english::PLACES)
        };
        self.paths[noun].iter().any(leads)
    }
}

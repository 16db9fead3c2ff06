//! Translates CLEVR's functional programs to programs of our language.
//!
//! A functional program is a list of small steps that name earlier steps as inputs. The language that
//! [`ClevrExecutor`](crate::clevr::ClevrExecutor) evaluates is terser: filters one after the other are one
//! `filter`, `unique` is gone, and comparisons apply to objects rather than to their attributes or numbers.
//! Both spellings of steps are read: `function` and `value_inputs` of the published files, `type` and
//! `side_inputs` of the generator.

use crate::clevr::{Attribute, AttributeValue, Direction};
use crate::data::message::shown;
use serde_json::Value;
use spanwise_lang::{Shape, Style, TermId, Terms};

/// The program for a list of steps, of which the last is the answer.
///
/// # Errors
/// Names the step that is not as expected.
pub(super) fn program(steps: &[Value]) -> Result<String, String> {
    let mut terms = Terms::new();
    let mut given = Vec::with_capacity(steps.len());
    for (step_idx, step) in steps.iter().enumerate() {
        let outcome = Step::new(step, &given).and_then(|step| step.translate(&mut terms));
        given.push(outcome.map_err(|reason| format!("step {step_idx} of the program: {reason}"))?);
    }
    let root = match *given.last().ok_or("`program` is an empty list")? {
        Given::Objects(term) | Given::Answer(term) => term,
        Given::NumberOf(objects) => terms.call("count", &[objects]),
        Given::AttributeOf(attribute, objects) => {
            let attribute = terms.leaf(Shape::Name, attribute.name());
            terms.call("query", &[attribute, objects])
        }
    };
    let style = Style { spaced: true, comma: " , ".to_owned() };
    Ok(terms.display_styled(root, &style).to_string())
}

/// The result of a step, an input of later ones.
#[derive(Clone, Copy)]
enum Given {
    /// A set of objects, or one of them.
    Objects(TermId),
    /// An attribute of an object: `query` when it is the answer, dissolved in a comparison otherwise.
    AttributeOf(Attribute, TermId),
    /// A number of objects: `count` when it is the answer, dissolved in a comparison otherwise.
    NumberOf(TermId),
    /// Yes or no.
    Answer(TermId),
}

struct Step<'a> {
    function: &'a str,
    inputs: Vec<Given>,
    /// The argument of filters and relations.
    value: &'a str,
}

impl<'a> Step<'a> {
    fn new(step: &'a Value, given: &[Given]) -> Result<Self, String> {
        let field = |names: [&str; 2]| names.into_iter().find_map(|name| step.get(name));
        let function = field(["function", "type"]).and_then(Value::as_str);
        let function = function.ok_or("expected a text in the field `function` or `type`")?;
        let inputs = step.get("inputs").and_then(Value::as_array).ok_or("expected a list `inputs`")?;
        let input = |input: &Value| {
            let place = input.as_u64().and_then(|place| usize::try_from(place).ok());
            let earlier = place.and_then(|place| given.get(place)).copied();
            earlier.ok_or_else(|| {
                format!("input {} is not the number of an earlier step", shown(&input.to_string()))
            })
        };
        let inputs = inputs.iter().map(input).collect::<Result<_, _>>()?;
        let values = field(["value_inputs", "side_inputs"]).and_then(Value::as_array);
        let value = values.and_then(|values| values.first()?.as_str()).unwrap_or_default();
        Ok(Self { function, inputs, value })
    }

    fn translate(&self, terms: &mut Terms) -> Result<Given, String> {
        if let Some((verb, attribute)) = self.function.split_once('_')
            && let Some(attribute) = Attribute::from_name(attribute)
        {
            return self.translate_attribute(terms, verb, attribute);
        }
        Ok(match self.function {
            "scene" => Given::Objects(terms.call("scene", &self.objects::<0>()?)),
            "unique" => Given::Objects(self.objects::<1>()?[0]),
            "relate" => {
                let direction = Direction::from_name(self.value).ok_or_else(|| self.unknown_value())?;
                let direction = terms.leaf(Shape::Name, direction.name());
                Given::Objects(terms.call("relate", &[direction, self.objects::<1>()?[0]]))
            }
            "union" | "intersect" => Given::Objects(terms.call(self.function, &self.objects::<2>()?)),
            "count" => Given::NumberOf(self.objects::<1>()?[0]),
            "exist" => Given::Answer(terms.call("exist", &self.objects::<1>()?)),
            "equal_integer" => Given::Answer(terms.call("count_equal", &self.numbers()?)),
            "less_than" => Given::Answer(terms.call("count_less", &self.numbers()?)),
            "greater_than" => Given::Answer(terms.call("count_greater", &self.numbers()?)),
            _ => return Err(self.unknown_function()),
        })
    }

    /// `filter_color`, `same_size`, `query_shape`, `equal_material`.
    fn translate_attribute(
        &self,
        terms: &mut Terms,
        verb: &str,
        attribute: Attribute,
    ) -> Result<Given, String> {
        Ok(match verb {
            "filter" => {
                let value =
                    AttributeValue::from_name(self.value).filter(|value| value.attribute() == attribute);
                let value = value.ok_or_else(|| self.unknown_value())?;
                Given::Objects(filter(terms, value, self.objects::<1>()?[0]))
            }
            "same" => {
                let [objects] = self.objects()?;
                let attribute = terms.leaf(Shape::Name, attribute.name());
                Given::Objects(terms.call("relate_attribute_equal", &[attribute, objects]))
            }
            "query" => Given::AttributeOf(attribute, self.objects::<1>()?[0]),
            "equal" => match self.inputs[..] {
                [Given::AttributeOf(left, a), Given::AttributeOf(right, b)]
                    if [left, right] == [attribute; 2] =>
                {
                    let attribute = terms.leaf(Shape::Name, attribute.name());
                    Given::Answer(terms.call("query_attribute_equal", &[attribute, a, b]))
                }
                _ => {
                    return Err(format!(
                        "`{}` needs two `query_{}` as inputs",
                        self.function,
                        attribute.name()
                    ));
                }
            },
            _ => return Err(self.unknown_function()),
        })
    }

    /// The inputs, when they are this many sets of objects.
    fn objects<const N: usize>(&self) -> Result<[TermId; N], String> {
        let objects =
            self.inputs.iter().map(|input| if let Given::Objects(term) = input { Some(*term) } else { None });
        let objects =
            objects.collect::<Option<Vec<_>>>().and_then(|objects| <[TermId; N]>::try_from(objects).ok());
        objects.ok_or_else(|| format!("`{}` needs sets of objects as inputs, exactly {N}", self.function))
    }

    /// The objects that two inputs count.
    fn numbers(&self) -> Result<[TermId; 2], String> {
        match self.inputs[..] {
            [Given::NumberOf(left), Given::NumberOf(right)] => Ok([left, right]),
            _ => Err(format!("`{}` needs two `count` as inputs", self.function)),
        }
    }

    fn unknown_function(&self) -> String {
        format!("unknown function `{}`", shown(self.function))
    }

    fn unknown_value(&self) -> String {
        format!("`{}` cannot take the value `{}`", self.function, shown(self.value))
    }
}

/// `value` added to the filters that `objects` has gone through already, the outermost last.
fn filter(terms: &mut Terms, value: AttributeValue, objects: TermId) -> TermId {
    let mut args =
        if terms.head_text(objects) == "filter" { terms.args(objects).to_vec() } else { vec![objects] };
    let value = terms.leaf(Shape::Name, value.name());
    args.insert(args.len() - 1, value);
    terms.call("filter", &args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Steps written `function[value] inputs...`.
    fn steps(lines: &str) -> Vec<Value> {
        let step = |line: &str| {
            let mut words = line.split_whitespace();
            let head = words.next().unwrap();
            let (function, value) = head.trim_end_matches(']').split_once('[').unwrap_or((head, ""));
            let inputs: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
            let values: Vec<&str> = (!value.is_empty()).then_some(value).into_iter().collect();
            json!({"function": function, "inputs": inputs, "value_inputs": values})
        };
        lines.split(';').map(step).collect()
    }

    fn check(lines: &str, expected: &str) {
        assert_eq!(program(&steps(lines)).unwrap(), expected);
    }

    fn check_error(lines: &str, expected: &str) {
        assert_eq!(program(&steps(lines)).unwrap_err(), expected);
    }

    #[test]
    fn filters_in_a_row_are_one() {
        check(
            "scene; filter_size[small] 0; filter_color[red] 1; filter_shape[cube] 2; unique 3; \
             relate[left] 4; filter_color[blue] 5; exist 6",
            "exist ( filter ( blue , relate ( left , filter ( small , red , cube , scene ( ) ) ) ) )",
        );
    }

    #[test]
    fn comparisons_apply_to_objects() {
        check(
            "scene; filter_color[red] 0; unique 1; query_shape 2; scene; filter_color[blue] 4; unique 5; \
             query_shape 6; equal_shape 3 7",
            "query_attribute_equal ( shape , filter ( red , scene ( ) ) , filter ( blue , scene ( ) ) )",
        );
        for (function, name) in
            [("equal_integer", "count_equal"), ("less_than", "count_less"), ("greater_than", "count_greater")]
        {
            check(
                &format!("scene; filter_color[red] 0; count 1; scene; count 3; {function} 2 4"),
                &format!("{name} ( filter ( red , scene ( ) ) , scene ( ) )"),
            );
        }
    }

    #[test]
    fn inputs_keep_their_order() {
        check(
            "scene; filter_color[red] 0; filter_color[blue] 0; union 2 1; count 3",
            "count ( union ( filter ( blue , scene ( ) ) , filter ( red , scene ( ) ) ) )",
        );
        check(
            "scene; filter_color[red] 0; unique 1; same_size 2; relate[front] 2; intersect 3 4; unique 5; \
             query_color 6",
            "query ( color , intersect ( relate_attribute_equal ( size , filter ( red , scene ( ) ) ) , \
             relate ( front , filter ( red , scene ( ) ) ) ) )",
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_step() {
        check_error(
            "scene; filter_color[large] 0",
            "step 1 of the program: `filter_color` cannot take the value `large`",
        );
        check_error("scene; relate[up] 0", "step 1 of the program: `relate` cannot take the value `up`");
        check_error("scene; paint_red 0", "step 1 of the program: unknown function `paint_red`");
        check_error("scene; paint_color 0", "step 1 of the program: unknown function `paint_color`");
        check_error(
            "scene; union 0",
            "step 1 of the program: `union` needs sets of objects as inputs, exactly 2",
        );
        check_error(
            "scene; exist 0; count 1",
            "step 2 of the program: `count` needs sets of objects as inputs, exactly 1",
        );
        check_error("scene; exist 1", "step 1 of the program: input 1 is not the number of an earlier step");
        check_error(
            "scene; count 0; less_than 0 1",
            "step 2 of the program: `less_than` needs two `count` as inputs",
        );
        check_error(
            "scene; query_size 0; query_color 0; equal_color 1 2",
            "step 3 of the program: `equal_color` needs two `query_color` as inputs",
        );
        assert_eq!(program(&[]).unwrap_err(), "`program` is an empty list");
        assert_eq!(
            program(&[json!({"inputs": []})]).unwrap_err(),
            "step 0 of the program: expected a text in the field `function` or `type`"
        );
    }
}

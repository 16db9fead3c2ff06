//! What holds of one item: its kind, its numbers, what it is related to.
//!
//! An item can be open (`cityid('austin', _)`). Kinds and numbers then settle on the first fact that fits and
//! hand back the item filled in; relations collect over all facts that fit and leave the item as it is.

use super::facts::{City, Facts, State};
use super::predicates::{Filter, Measure, Relation};
use super::value::{Item, Name, Number};

/// People that a major city has more than.
const MAJOR_POPULATION: f64 = 150_000.0;
/// Kilometers that a major river is longer than.
const MAJOR_LENGTH: f64 = 750.0;

impl Facts {
    /// All items of a kind, in the order of the facts. Nothing is major on its own ([`Filter::has_all`]).
    pub(super) fn everything(&self, filter: Filter) -> Vec<Item> {
        let places = || self.highs.all().iter().chain(self.lows.all());
        match filter {
            Filter::Major => Vec::new(),
            Filter::Capital => self.states.all().iter().map(capital).collect(),
            Filter::City => self.cities.all().iter().map(city).collect(),
            Filter::Place => places().map(|row| Item::Place(row.place)).collect(),
            Filter::River => self.rivers.all().iter().map(|row| Item::River(row.name)).collect(),
            Filter::Lake => self.lakes.all().iter().map(|&name| Item::Lake(name)).collect(),
            Filter::State => self.states.all().iter().map(|row| Item::State(row.name)).collect(),
        }
    }

    /// The item, filled in, when it is of the kind.
    pub(super) fn keep(&self, filter: Filter, item: Item) -> Option<Item> {
        match (filter, item) {
            (Filter::Capital, Item::City(name, abbrev)) => {
                let rows = self.states_by_capital.get(name).iter();
                rows.filter(|row| row.abbrev.matches(abbrev)).map(capital).next()
            }
            (Filter::City, Item::City(name, abbrev)) => self.cities_matching(name, abbrev).map(city).next(),
            (Filter::Major, Item::City(name, abbrev)) => {
                let mut rows = self.cities_matching(name, abbrev);
                rows.find(|row| row.population.size() > MAJOR_POPULATION).map(city)
            }
            (Filter::Major, Item::River(name)) => {
                let mut rows = self.rivers.get(name).iter();
                rows.find(|row| row.length.size() > MAJOR_LENGTH).map(|row| Item::River(row.name))
            }
            (Filter::Place, Item::Place(name)) => {
                let row = self.highs.get(name).first().or_else(|| self.lows.get(name).first());
                row.map(|row| Item::Place(row.place))
            }
            (Filter::River, Item::River(name)) => {
                self.rivers.get(name).first().map(|row| Item::River(row.name))
            }
            (Filter::Lake, Item::Lake(name)) => self.lakes.get(name).first().map(|&name| Item::Lake(name)),
            (Filter::State, Item::State(name)) => {
                self.states.get(name).first().map(|row| Item::State(row.name))
            }
            _ => None,
        }
    }

    /// The number that belongs to the item, and the item filled in.
    pub(super) fn measure(&self, measure: Measure, item: Item) -> Option<(Number, Item)> {
        match (measure, item) {
            (Measure::Size, Item::Number(number)) => Some((number, item)),
            (Measure::Length | Measure::Size, Item::River(name)) => {
                self.rivers.get(name).first().map(|row| (row.length, Item::River(row.name)))
            }
            (Measure::Elevation | Measure::Size, Item::Place(name)) => {
                let row = self.lows.get(name).first().or_else(|| self.highs.get(name).first());
                row.map(|row| (row.elevation, Item::Place(row.place)))
            }
            (Measure::Population | Measure::Size, Item::City(name, abbrev)) => {
                self.cities_matching(name, abbrev).next().map(|row| (row.population, city(row)))
            }
            (_, Item::State(name)) => {
                let row = self.states.get(name).first()?;
                let number = match measure {
                    Measure::Area | Measure::Size => Number::Float(row.area),
                    Measure::Population => row.population,
                    Measure::Density => Number::Float(row.population.size() / row.area),
                    Measure::Length | Measure::Elevation => return None,
                };
                Some((number, Item::State(row.name)))
            }
            _ => None,
        }
    }

    /// The capital of a state.
    pub(super) fn capital_of(&self, item: Item) -> Option<Item> {
        let Item::State(name) = item else { return None };
        self.states.get(name).first().map(capital)
    }

    /// Appends to `out` what the item is related to.
    pub(super) fn relate(&self, relation: Relation, item: Item, out: &mut Vec<Item>) {
        use Relation as R;
        match (relation, item) {
            (R::CapitalFor, Item::City(name, abbrev)) => {
                let rows = self.states_by_capital.get(name).iter().filter(|row| row.abbrev.matches(abbrev));
                out.extend(rows.map(|row| Item::State(row.name)));
            }
            (R::AtElevation, Item::Number(number)) => {
                let same = self.elevations().filter(|&(_, elevation)| elevation == number);
                out.extend(same.map(|(place, _)| place));
            }
            (R::HighPoint | R::LowPoint, _) => self.point_of(relation, item, out),
            (R::HighPointOf | R::LowPointOf, Item::Place(name)) => self.has_as_point(relation, name, out),
            (R::HigherThan | R::LowerThan, Item::Place(name)) => self.differs_from(relation, name, out),
            (R::Higher | R::Lower, Item::Place(name)) => self.differing_from(relation, name, out),
            (R::In, _) => self.surroundings(item, out),
            (R::Contains, _) => self.contents(item, out),
            (R::Borders, Item::State(name)) => {
                out.extend(self.borders.get(name).iter().map(|row| Item::State(row.neighbor)));
            }
            (R::BorderedBy, Item::State(name)) => {
                out.extend(self.borders_by_neighbor.get(name).iter().map(|row| Item::State(row.state)));
            }
            (R::Traverses, Item::River(name)) => {
                out.extend(self.courses.get(name).iter().map(|row| Item::State(row.state)));
            }
            (R::TraversedBy, Item::State(name)) => {
                out.extend(self.courses_by_state.get(name).iter().map(|row| Item::River(row.river)));
            }
            (R::Longer, Item::River(name)) => self.longer(name, out),
            _ => {}
        }
    }

    fn point_of(&self, relation: Relation, item: Item, out: &mut Vec<Item>) {
        let (by_state, of_usa) = match relation {
            Relation::HighPoint => (&self.highs_by_state, self.highest_of_usa),
            _ => (&self.lows_by_state, self.lowest_of_usa),
        };
        match item {
            Item::Country(name) if name.matches(self.usa) => out.push(Item::Place(of_usa)),
            Item::State(name) => out.extend(by_state.get(name).iter().map(|row| Item::Place(row.place))),
            _ => {}
        }
    }

    fn has_as_point(&self, relation: Relation, name: Name, out: &mut Vec<Item>) {
        let (by_place, of_usa) = match relation {
            Relation::HighPointOf => (&self.highs, self.highest_of_usa),
            _ => (&self.lows, self.lowest_of_usa),
        };
        if name.matches(of_usa) {
            out.push(Item::Country(self.usa));
        }
        out.extend(by_place.get(name).iter().map(|row| Item::State(row.state)));
    }

    /// The places that a place is higher (lower) than, once for each of its elevations.
    fn differs_from(&self, relation: Relation, name: Name, out: &mut Vec<Item>) {
        for own in self.elevations_of(name) {
            let beaten = |&(_, other): &(Item, Number)| match relation {
                Relation::HigherThan => own.size() > other.size(),
                _ => own.size() < other.size(),
            };
            out.extend(self.elevations().filter(beaten).map(|(place, _)| place));
        }
    }

    /// The places that are higher (lower) than a place, once for each of its elevations that they beat.
    fn differing_from(&self, relation: Relation, name: Name, out: &mut Vec<Item>) {
        for (place, elevation) in self.elevations() {
            let beats = |own: &Number| match relation {
                Relation::Higher => elevation.size() > own.size(),
                _ => elevation.size() < own.size(),
            };
            out.extend(std::iter::repeat_n(place, self.elevations_of(name).filter(beats).count()));
        }
    }

    /// The rivers that are longer than a river.
    fn longer(&self, name: Name, out: &mut Vec<Item>) {
        for row in self.rivers.all() {
            let shorter =
                self.rivers.get(name).iter().filter(|other| row.length.size() > other.length.size());
            out.extend(std::iter::repeat_n(Item::River(row.name), shorter.count()));
        }
    }

    /// The country, once for each fact that the item is in it, then states.
    fn surroundings(&self, item: Item, out: &mut Vec<Item>) {
        let country = |n_facts: usize| std::iter::repeat_n(Item::Country(self.usa), n_facts);
        match item {
            Item::City(name, abbrev) => {
                out.extend(country(self.cities_matching(name, abbrev).count()));
                out.extend(self.cities_matching(name, abbrev).map(|row| Item::State(row.state)));
            }
            Item::State(name) => out.extend(country(self.states.get(name).len())),
            Item::River(name) => {
                out.extend(country(self.rivers.get(name).len()));
                out.extend(self.courses.get(name).iter().map(|row| Item::State(row.state)));
            }
            Item::Place(name) => {
                let (highs, lows) = (self.highs.get(name), self.lows.get(name));
                out.extend(country(highs.len() + lows.len()));
                out.extend(highs.iter().chain(lows).map(|row| Item::State(row.state)));
            }
            Item::Number(_) | Item::Lake(_) | Item::Country(_) => {}
        }
    }

    fn contents(&self, item: Item, out: &mut Vec<Item>) {
        match item {
            Item::Country(name) if name.matches(self.usa) => {
                for filter in [Filter::City, Filter::State, Filter::River, Filter::Place] {
                    out.extend(self.everything(filter));
                }
            }
            Item::State(name) => {
                out.extend(self.cities_by_state.get(name).iter().map(city));
                let points = self.highs_by_state.get(name).iter().chain(self.lows_by_state.get(name));
                out.extend(points.map(|row| Item::Place(row.place)));
                out.extend(self.courses_by_state.get(name).iter().map(|row| Item::River(row.river)));
            }
            _ => {}
        }
    }

    fn cities_matching(&self, name: Name, abbrev: Name) -> impl Iterator<Item = &City> {
        self.cities.get(name).iter().filter(move |row| row.abbrev.matches(abbrev))
    }

    /// All places with their elevations, lowest points of the states first.
    fn elevations(&self) -> impl Iterator<Item = (Item, Number)> {
        self.lows.all().iter().chain(self.highs.all()).map(|row| (Item::Place(row.place), row.elevation))
    }

    fn elevations_of(&self, place: Name) -> impl Iterator<Item = Number> {
        self.lows.get(place).iter().chain(self.highs.get(place)).map(|row| row.elevation)
    }
}

fn city(row: &City) -> Item {
    Item::City(row.name, row.abbrev)
}

fn capital(row: &State) -> Item {
    Item::City(row.capital, row.abbrev)
}

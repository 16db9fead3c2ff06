-- The facts of GeoQuery as tables, for SQLite and for PostgreSQL. `nr` is the place in the facts, which decides between equals.
create table country (id text primary key, name text not null);
create table state (id text primary key, nr integer not null, name text not null, abbrev text not null,
                    capital_id text not null, population double precision not null, area double precision not null);
-- The cities of the facts, and capitals that are not among them: those have no population.
create table city (id text primary key, nr integer not null, name text not null, abbrev text not null,
                   population integer, is_capital integer not null);
-- Two rivers can have one name.
create table river (nr integer primary key, id text not null, name text not null, length integer not null);
create table place (id text primary key, nr integer not null, name text not null, elevation integer not null);
create table lake (id text primary key, name text not null);
create table border (state_id text not null, neighbor_id text not null);
create table course (river_id text not null, state_id text not null);
-- The highest and the lowest points of states and of the country.
create table point (state_id text not null, place_id text not null, is_high integer not null, elevation integer not null);
-- What is where: in a state, and in the country.
create table located (thing_id text not null, place_id text not null);

create index city_name on city (name);
create index river_id on river (id);
create index border_state on border (state_id);
create index border_neighbor on border (neighbor_id);
create index course_river on course (river_id);
create index course_state on course (state_id);
create index point_state on point (state_id);
create index point_place on point (place_id);
create index located_thing on located (thing_id);
create index located_place on located (place_id);

-- Everything that has numbers. The size of a state is its area, of a city its population, of a river its length, of a place its
-- elevation.
create view thing as
select id, nr, area as size, population, area, population / area as density,
       cast(null as double precision) as length, cast(null as double precision) as elevation from state
union all
select id, nr, population, population, null, null, null, null from city where population is not null
union all
select id, nr, length, null, null, null, length, null from river
where nr = (select min(first.nr) from river as first where first.id = river.id)
union all
select id, nr, elevation, null, null, null, null, elevation from place;

//! Lines as the benchmarks have them, with the programs that they become.

use spanwise_domains::data::import::Benchmark;

/// The benchmark, a line, its program.
pub(super) const LINES: [(Benchmark, &str, &str); 31] = [
    (
        Benchmark::Cogs,
        "The fox wanted to paint a boat .\t* fox ( x _ 1 ) ; want . agent ( x _ 2 , x _ 1 ) AND want . xcomp ( x _ 2 , x _ 4 ) \
         AND paint . agent ( x _ 4 , x _ 1 ) AND paint . theme ( x _ 4 , x _ 6 ) AND boat ( x _ 6 )\tmine",
        "want(agent(the(fox)), xcomp(paint(theme(boat))))",
    ),
    (
        Benchmark::Cogs,
        "Nora believed that a kite was mended by the fox .\t* fox ( x _ 9 ) ; believe . agent ( x _ 1 , Nora ) AND \
         believe . ccomp ( x _ 1 , x _ 6 ) AND kite ( x _ 4 ) AND mend . theme ( x _ 6 , x _ 4 ) AND mend . agent ( x _ 6 , x _ 9 )\t",
        "believe(agent(Nora), ccomp(mend(theme(kite), agent(the(fox)))))",
    ),
    (
        Benchmark::Cogs,
        "A fox on the raft beside a fox lent Nora a DVD .\t* raft ( x _ 4 ) ; fox ( x _ 1 ) AND fox . nmod . on ( x _ 1 , x _ 4 ) AND \
         raft . nmod . beside ( x _ 4 , x _ 7 ) AND fox ( x _ 7 ) AND lend . agent ( x _ 8 , x _ 1 ) AND \
         lend . recipient ( x _ 8 , Nora ) AND lend . theme ( x _ 8 , x _ 11 ) AND dvd ( x _ 11 )\tkind",
        "lend(agent(nmod.on(fox, nmod.beside(the(raft), fox))), recipient(Nora), theme(dvd))",
    ),
    (
        Benchmark::Cogs,
        "The fox hoped to yodel .\t* fox ( x _ 1 ) ; hope . agent ( x _ 2 , x _ 1 ) AND hope . xcomp ( x _ 2 , x _ 4 ) AND \
         yodel . agent ( x _ 4 , x _ 1 )\tkind",
        "hope(agent(the(fox)), xcomp(yodel()))",
    ),
    (Benchmark::Cogs, "Nora\tNora\tprimitive", "Nora"),
    (Benchmark::Cogs, "kite\tLAMBDA a . kite ( a )\tprimitive", "kite"),
    (
        Benchmark::Cogs,
        "yodel\tLAMBDA a . LAMBDA e . yodel . agent ( e , a )\tprimitive",
        "lambda(a, yodel(agent(a)))",
    ),
    (
        Benchmark::Cogs,
        "mend\tLAMBDA a . LAMBDA b . LAMBDA e . mend . agent ( e , b ) AND mend . theme ( e , a )\tprimitive",
        "lambda(a, lambda(b, mend(agent(b), theme(a))))",
    ),
    (Benchmark::Atis, "cities\tanswer _city all", "answer(_city(all))"),
    (
        Benchmark::Atis,
        "a flight at noon from oslo\tanswer _flight ( intersection _departure_time_2 time 1200 _from_2 city_name oslo )",
        "answer(_flight(intersection(_departure_time_2(time(1200)), _from_2(city_name(oslo)))))",
    ),
    (
        Benchmark::Atis,
        "first flight to oslo not by xy or by day\tanswer argmin_departure_time _flight ( intersection _to_2 city_name oslo \
         not _airline_2 airline_code xy ( or _nonstop all _airline_2 airline_code day ) )",
        "answer(argmin_departure_time(_flight(intersection(_to_2(city_name(oslo)), not(_airline_2(airline_code(xy))), \
         or(_nonstop(all), _airline_2(airline_code(day)))))))",
    ),
    (
        Benchmark::Atis,
        "are seats far\tanswer ( or _equals sum_capacity _aircraft all integer 7 _miles_distant airport_code osl city_name oslo )",
        "answer(or(_equals(sum_capacity(_aircraft(all)), integer(7)), _miles_distant(airport_code(osl), city_name(oslo))))",
    ),
    (
        Benchmark::Atis,
        "codes\tanswer ( intersection fare_basis_code q meal_code _ airline_code o'x )",
        "answer(intersection(fare_basis_code(q), meal_code('_'), airline_code('o''x')))",
    ),
    (
        Benchmark::Overnight,
        "who leads oslo\tmayor of oslo\t( call SW.listValue ( call SW.getProperty en.city.oslo ( string mayor ) ) )",
        "listValue(getProperty(en.city.oslo, mayor))",
    ),
    (
        Benchmark::Overnight,
        "cities with at least 2 parks\tcity that has at least two park\t( call SW.listValue ( call SW.countComparative ( call \
         SW.getProperty ( call SW.singleton en.city ) ( string !type ) ) ( string park ) ( string >= ) ( number 2 en.park ) ) )",
        "listValue(countComparative(getProperty(singleton(en.city), !type), park, >=, number(2, en.park)))",
    ),
    (
        Benchmark::Overnight,
        "how many cities\tnumber of city\t( call .size ( call SW.getProperty ( call SW.singleton en.city ) ( string !type ) ) )",
        ".size(getProperty(singleton(en.city), !type))",
    ),
    (
        Benchmark::Overnight,
        "founded before may 1920\tbefore\t( call SW.f ( date 1920 5 -1 ) ( time 10 0 ) ( string < ) -1 )",
        "f(date(1920, 5, -1), time(10, 0), <, -1)",
    ),
    (
        Benchmark::Overnight,
        "odd\todd\t( ( lambda s ( call SW.f ( var s ) ( string x ) ) ) ( call other.f x ) ( ) ( string ) ( string 3 ) ( atom ) )",
        "list(lambda(s, f(var(s), x)), call(atom(other.f), atom(x)), list(), string(), string(3), list(atom(atom)))",
    ),
    (
        Benchmark::Overnight,
        "odder\tq\t( call SW.call ( string en.x ) ( string _ ) ( lambda ( string s ) ) ( call ) ( call SW.size.x ) it's )",
        "call(atom(SW.call), string(en.x), string('_'), lambda(string(s)), call(), size.x(), 'it''s')",
    ),
    (Benchmark::Overnight, "mayor\tmayor\t( string mayor )", "mayor"),
    (
        Benchmark::Overnight,
        "large old cities\tq\t( call SW.filter ( call SW.filter en.city ( string old ) ) ( string size ) ( string > ) ( number 3 ) )",
        "filter(en.city, all(is(old), is(size, >, number(3))))",
    ),
    (
        Benchmark::Overnight,
        "old cities\tq\t( call SW.filter ( call SW.filter ( call SW.filter en.city ( string old ) ) ( string big ) ) ( string old ) )",
        "filter(en.city, all(is(old), is(big)))",
    ),
    (
        Benchmark::Overnight,
        "near old cities\tq\t( call SW.filter en.city ( string near ) ( call SW.filter en.city ( string old ) ) )",
        "filter(en.city, is(near, filter(en.city, is(old))))",
    ),
    (
        Benchmark::Overnight,
        "all\tall\t( call SW.filter ( call SW.all ) ( call SW.is ) )",
        "filter(call(atom(SW.all)), is(call(atom(SW.is))))",
    ),
    (Benchmark::Overnight, "mayor\tmayor\tmayor", "atom(mayor)"),
    (Benchmark::Okapi, "what is on?\tGET event", "get(event)"),
    (
        Benchmark::Okapi,
        "how many about kites \tGET event COUNT SEARCH kites and (small) boats, it's 2",
        "get(event, count, search('kites and (small) boats, it''s 2'))",
    ),
    (
        Benchmark::Okapi,
        "next 3 of nora's with files\tGET event FILTER event.hasAttachments eq True FILTER event.organizer eq Nora Lind \
         FILTER event.start gt now ORDERBY event.start asc TOP 3",
        "get(event, filter(event.hasAttachments, eq, True), filter(event.organizer, eq, 'Nora Lind'), \
         filter(event.start, gt, 'now'), orderby(event.start, asc), top(3))",
    ),
    (
        Benchmark::Okapi,
        "urgent\tGET event FILTER event.importance eq 7 FILTER event.importance eq very High",
        "get(event, filter(event.importance, eq, '7'), filter(event.importance, eq, 'very High'))",
    ),
    (
        Benchmark::Okapi,
        "top\tGET event SEARCH top count \\ \"x\"",
        "get(event, search('top count \\\\ \"x\"'))",
    ),
    (Benchmark::Okapi, "three\tGET message TOP 3", "get(message, top(3))"),
];

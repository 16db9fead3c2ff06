#!/usr/bin/env python3
"""Makes the database of a city library that does not exist: 11 tables, 14,000 rows, always the same ones.

    python3 make.py library.db             an SQLite file
    python3 make.py --sql library.sql      statements for PostgreSQL: psql -d library -f library.sql

It needs nothing but the standard library of Python. A file that is there already is replaced.
"""

import argparse
import datetime as dt
import os
import random
import sqlite3

SEED = 1609
LAST_DAY = dt.date(2025, 5, 31)

SCHEMA = """
create table branches (
    branch_id integer primary key,
    name text not null unique,
    district text not null,
    opened date not null,
    seats integer not null
);
create table publishers (
    publisher_id integer primary key,
    name text not null unique,
    country text not null,
    founded_year integer
);
create table authors (
    author_id integer primary key,
    name text not null unique,
    nationality text not null,
    birth_year integer,
    death_year integer
);
create table genres (
    genre_id integer primary key,
    name text not null unique
);
create table books (
    book_id integer primary key,
    title text not null,
    isbn text unique,
    publisher_id integer not null references publishers (publisher_id),
    genre_id integer not null references genres (genre_id),
    published_year integer not null,
    pages integer not null,
    language text not null
);
create table book_authors (
    book_id integer not null references books (book_id),
    author_id integer not null references authors (author_id),
    primary key (book_id, author_id)
);
create table copies (
    copy_id integer primary key,
    book_id integer not null references books (book_id),
    branch_id integer not null references branches (branch_id),
    condition text not null,
    acquired_on date not null,
    purchase_price numeric(8,2)
);
create table librarians (
    librarian_id integer primary key,
    full_name text not null,
    branch_id integer not null references branches (branch_id),
    head_id integer references librarians (librarian_id),
    hired_on date not null,
    salary numeric(10,2) not null
);
create table members (
    member_id integer primary key,
    full_name text not null,
    membership text not null,
    home_branch_id integer not null references branches (branch_id),
    joined_on date not null,
    birth_date date,
    email text
);
create table loans (
    loan_id integer primary key,
    copy_id integer not null references copies (copy_id),
    member_id integer not null references members (member_id),
    librarian_id integer references librarians (librarian_id),
    loaned_on date not null,
    due_on date not null,
    returned_on date,
    fine numeric(6,2)
);
create table reservations (
    reservation_id integer primary key,
    book_id integer not null references books (book_id),
    member_id integer not null references members (member_id),
    reserved_on date not null,
    is_cancelled boolean not null
);
create index loans_copy on loans (copy_id);
create index loans_member on loans (member_id);
create index copies_book on copies (book_id);
"""

TABLES = [
    "branches", "publishers", "authors", "genres", "books", "book_authors", "copies", "librarians", "members", "loans",
    "reservations",
]

BRANCHES = [
    ("Central Library", "Old Town", "1932-09-01", 420), ("Harborside", "Port", "1968-04-15", 120),
    ("Northgate", "Northgate", "1975-10-02", 90), ("Willow Park", "Willow Park", "1989-05-20", 75),
    ("University Quarter", "Campus", "1998-03-09", 160), ("Eastfield", "Eastfield", "2004-08-28", 60),
    ("Mill Street", "West End", "2015-11-14", 55),
]
PUBLISHERS = [
    ("Lantern Press", "United Kingdom", 1921), ("Red Kite Books", "United States", 1954), ("Maison Aubert", "France", 1888),
    ("Sturm Verlag", "Germany", 1947), ("Casa del Faro", "Spain", 1963), ("Polar Editions", "Norway", 1979),
    ("Blue Heron House", "Canada", 1991), ("Sakura Publishing", "Japan", 1950), ("Tidewater", "United States", 2003),
    ("Old Mill Academic", "United Kingdom", 1899), ("Kestrel Kids", "Australia", 1985), ("Orpheus Poetry", "Ireland", None),
]
GENRES = [
    "Mystery", "Science Fiction", "Fantasy", "Romance", "History", "Biography", "Poetry", "Cooking", "Travel", "Philosophy",
    "Children", "Horror",
]
LANGUAGES = [("English", 70), ("French", 9), ("German", 8), ("Spanish", 8), ("Japanese", 3), ("Norwegian", 2)]
NATIONALITIES = ["British", "American", "French", "German", "Spanish", "Norwegian", "Canadian", "Japanese", "Irish", "Australian"]
FIRST = (
    "Ada Agnes Albert Alma Anton Beatrice Boris Carla Cecil Clement Dagmar Dorothy Edgar Edith Elias Erika Ezra Flora Franz "
    "Greta Gustav Hedda Henrik Ida Ingrid Iris Jasper Joan Julius Karin Kenzo Leonard Lorna Magnus Maeve Marcel Mabel Nils "
    "Octavia Oscar Paloma Percy Quentin Rosa Rufus Selma Silas Sylvie Theo Ursula Victor Walter Winifred Yasmin Yuri Zelda"
).split()
LAST = (
    "Abernathy Ashcroft Aubert Bellweather Blackwood Brandt Calloway Castellan Crane Dahl Delacroix Devereux Eastwood Ellery "
    "Falk Fairchild Fenwick Galloway Grimshaw Hale Hallow Hartmann Holloway Ibsen Jarvis Keller Kirkwood Lindqvist Lockhart "
    "Marlowe Merriweather Moreno Nakamura Nightingale Oakley Olsen Pemberton Quill Ravenscroft Rosenthal Sato Sinclair Stone "
    "Thorne Underhill Valdez Vance Wexford Whitlock Winter Yates Zimmer"
).split()
OPENINGS = [
    "The Silent", "A Winter in", "The Last", "Beyond the", "The Clockmaker of", "Letters from", "The Garden of", "Shadows over",
    "The Art of", "Return to", "A Short History of", "The Secret of", "Voices of", "The Road to", "Children of", "The House at",
    "Songs for", "The Cartographer's", "Midnight in", "The Weight of",
]
ENDINGS = [
    "Harbor", "Lisbon", "Emperor", "Mountains", "Prague", "Glass", "Tomorrow", "Ravens", "Bread", "Samarkand", "Salt", "the Moon",
    "Orchids", "Venice", "Daughter", "Marsh Lane", "Strangers", "Water", "the North", "Stars", "Silence", "Ashes",
]


class Maker:
    """Rows of all tables, from one stream of random numbers."""

    def __init__(self):
        self.random = random.Random(SEED)
        self.rows = {table: [] for table in TABLES}

    def add(self, table, *cells):
        number = len(self.rows[table]) + 1
        self.rows[table].append((number, *cells))
        return number

    def day(self, first, last):
        return first + dt.timedelta(days=self.random.randrange(max(1, (last - first).days + 1)))

    def weighted(self, pairs):
        return self.random.choices([one for one, _ in pairs], [weight for _, weight in pairs])[0]

    def make(self):
        names = [f"{first} {last}" for first in FIRST for last in LAST]
        self.random.shuffle(names)
        for name, district, opened, seats in BRANCHES:
            self.add("branches", name, district, dt.date.fromisoformat(opened), seats)
        for publisher in PUBLISHERS:
            self.add("publishers", *publisher)
        for genre in GENRES:
            self.add("genres", genre)
        for _ in range(180):
            born = self.random.randrange(1840, 1995)
            died = born + self.random.randrange(35, 92)
            died = died if died < 2024 else None
            born = born if self.random.random() < 0.95 else None
            self.add("authors", names.pop(), self.random.choice(NATIONALITIES), born, died)
        self.books()
        self.people(names)
        self.loans()
        return self.rows

    def books(self):
        titles = [f"{opening} {ending}" for opening in OPENINGS for ending in ENDINGS]
        self.random.shuffle(titles)
        self.random.shuffle(titles)
        for number in range(1, 421):
            isbn = f"978-{self.random.randrange(10)}-{self.random.randrange(1000, 9999)}-{number:04d}-{self.random.randrange(10)}"
            year = int(self.random.triangular(1925, 2025, 2012))
            pages = int(self.random.triangular(48, 920, 310))
            self.add(
                "books", titles.pop(), isbn if self.random.random() < 0.9 else None, self.random.randrange(1, len(PUBLISHERS) + 1),
                self.random.randrange(1, len(GENRES) + 1), year, pages, self.weighted(LANGUAGES),
            )
            authors = set(self.random.choices(range(1, 181), k=self.weighted([(1, 82), (2, 15), (3, 3)])))
            self.rows["book_authors"] += [(number, author) for author in sorted(authors)]
            for _ in range(self.weighted([(1, 30), (2, 30), (3, 20), (5, 15), (9, 5)])):
                price = round(self.random.triangular(6, 60, 18), 2) if self.random.random() < 0.9 else None
                condition = self.weighted([("new", 15), ("good", 55), ("worn", 25), ("damaged", 5)])
                acquired = self.day(dt.date(max(year, 1995), 1, 1), dt.date(2025, 1, 31))
                self.add("copies", number, self.random.randrange(1, len(BRANCHES) + 1), condition, acquired, price)

    def people(self, names):
        for branch in range(1, len(BRANCHES) + 1):
            head = None
            for _ in range(8 if branch == 1 else 4):
                salary = round(self.random.uniform(34000, 58000) + (14000 if head is None else 0), -2)
                hired = self.day(dt.date(1994, 1, 1), dt.date(2024, 12, 31))
                made = self.add("librarians", names.pop(), branch, head, hired, salary)
                head = head or made
        for _ in range(900):
            name = names.pop()
            email = f"{name.lower().replace(' ', '.')}@post.example" if self.random.random() < 0.85 else None
            birth = self.day(dt.date(1940, 1, 1), dt.date(2016, 1, 1)) if self.random.random() < 0.9 else None
            membership = self.weighted([("adult", 55), ("student", 20), ("child", 15), ("senior", 10)])
            branch = self.random.randrange(1, len(BRANCHES) + 1)
            self.add("members", name, membership, branch, self.day(dt.date(2010, 1, 1), dt.date(2025, 4, 30)), birth, email)

    def loans(self):
        members = [row for row in self.rows["members"] if self.random.random() < 0.9]
        eager = [self.random.expovariate(1) + 0.05 for _ in members]
        copies = [row for row in self.rows["copies"] if self.random.random() < 0.93]
        staff = [row[0] for row in self.rows["librarians"]]
        drafts = []
        for member, copy in zip(self.random.choices(members, eager, k=9500), self.random.choices(copies, k=9500)):
            drafts.append((self.day(max(member[4], copy[4], dt.date(2016, 1, 1)), LAST_DAY), copy[0], member[0]))
        for loaned, copy, member in sorted(drafts):
            due = loaned + dt.timedelta(days=28)
            returned = loaned + dt.timedelta(days=int(self.random.triangular(1, 60, 20)))
            returned = returned if returned <= LAST_DAY and self.random.random() < 0.985 else None
            late = (returned - due).days if returned else 0
            fine = round(late * 0.25, 2) if late > 0 else None
            librarian = self.random.choice(staff) if self.random.random() < 0.6 else None
            self.add("loans", copy, member, librarian, loaned, due, returned, fine)
        for _ in range(1300):
            member = self.random.choice(members)
            day = self.day(max(member[4], dt.date(2020, 1, 1)), LAST_DAY)
            self.add("reservations", self.random.randrange(1, 421), member[0], day, self.random.random() < 0.2)


def plain(cell):
    """A cell for SQLite."""
    if isinstance(cell, bool):
        return int(cell)
    return cell.isoformat() if isinstance(cell, dt.date) else cell


def literal(cell):
    """A cell as SQL for PostgreSQL."""
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, (int, float)):
        return repr(cell)
    return "'" + str(plain(cell)).replace("'", "''") + "'"


def write_sqlite(path, rows):
    temporary = f"{path}.part"
    if os.path.exists(temporary):
        os.remove(temporary)
    database = sqlite3.connect(temporary)
    database.executescript(SCHEMA)
    for table in TABLES:
        marks = ", ".join("?" * len(rows[table][0]))
        database.executemany(f"insert into {table} values ({marks})", [[plain(cell) for cell in row] for row in rows[table]])
    database.commit()
    database.execute("analyze")
    database.commit()
    database.close()
    os.replace(temporary, path)


def write_sql(path, rows):
    with open(f"{path}.part", "w", encoding="utf-8") as out:
        out.write("set client_min_messages = warning;\nbegin;\n")
        out.write(SCHEMA)
        for table in TABLES:
            for start in range(0, len(rows[table]), 500):
                values = ",\n".join("(" + ", ".join(map(literal, row)) + ")" for row in rows[table][start : start + 500])
                out.write(f"insert into {table} values\n{values};\n")
        out.write("commit;\nanalyze;\n")
    os.replace(f"{path}.part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="the file to write")
    parser.add_argument("--sql", action="store_true", help="write statements for PostgreSQL instead of an SQLite file")
    arguments = parser.parse_args()
    rows = Maker().make()
    (write_sql if arguments.sql else write_sqlite)(arguments.file, rows)
    print(f"{arguments.file}: {len(TABLES)} tables, {sum(map(len, rows.values())):,} rows")


if __name__ == "__main__":
    main()

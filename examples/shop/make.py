#!/usr/bin/env python3
"""Makes the database of a bicycle shop that does not exist: 13 tables, about 19,000 rows, always the same ones.

    python3 make.py shop.db             an SQLite file
    python3 make.py --sql shop.sql      statements for PostgreSQL: psql -d shop -f shop.sql

It needs nothing but the standard library. A file that is there already is replaced.
"""

import argparse
import datetime as dt
import os
import random
import sqlite3

SEED = 20240229
LAST_DAY = dt.date(2025, 6, 30)

SCHEMA = """
create table category (
    id integer primary key,
    name text not null unique,
    parent_id integer references category (id)
);
create table supplier (
    id integer primary key,
    name text not null unique,
    city text not null,
    country text not null,
    email text,
    phone text
);
create table product (
    id integer primary key,
    sku text not null unique,
    name text not null unique,
    category_id integer not null references category (id),
    supplier_id integer not null references supplier (id),
    price numeric(10,2) not null,
    cost numeric(10,2) not null,
    weight_kg numeric(6,2),
    stock integer not null,
    color text,
    is_discontinued boolean not null,
    released_on date not null,
    description text
);
create table tag (
    id integer primary key,
    name text not null unique
);
create table product_tag (
    product_id integer not null references product (id),
    tag_id integer not null references tag (id),
    primary key (product_id, tag_id)
);
create table store (
    id integer primary key,
    name text not null unique,
    city text not null,
    opened_on date not null
);
create table employee (
    id integer primary key,
    first_name text not null,
    last_name text not null,
    job_title text not null,
    store_id integer not null references store (id),
    manager_id integer references employee (id),
    hired_on date not null,
    salary numeric(10,2) not null,
    email text not null
);
create table customer (
    id integer primary key,
    first_name text not null,
    last_name text not null,
    email text,
    phone text,
    birth_date date,
    registered_on date not null,
    newsletter boolean not null
);
create table address (
    id integer primary key,
    customer_id integer not null references customer (id),
    street text not null,
    postal_code text not null,
    city text not null,
    country text not null
);
create table orders (
    id integer primary key,
    customer_id integer not null references customer (id),
    employee_id integer references employee (id),
    billing_address_id integer not null references address (id),
    shipping_address_id integer references address (id),
    status text not null,
    ordered_at timestamp not null,
    discount numeric(4,2) not null,
    note text
);
create table order_line (
    order_id integer not null references orders (id),
    product_id integer not null references product (id),
    quantity integer not null,
    unit_price numeric(10,2) not null,
    primary key (order_id, product_id)
);
create table shipment (
    id integer primary key,
    order_id integer not null references orders (id),
    carrier text not null,
    shipped_on date not null,
    delivered_on date,
    shipping_cost numeric(8,2) not null
);
create table review (
    id integer primary key,
    product_id integer not null references product (id),
    customer_id integer not null references customer (id),
    rating integer not null check (rating between 1 and 5),
    title text,
    body text,
    posted_on date not null
);
create view order_total as
    select o.id as order_id, o.customer_id, round(sum(l.quantity * l.unit_price) * (1 - o.discount), 2) as total
    from orders o join order_line l on l.order_id = o.id
    group by o.id, o.customer_id, o.discount;
create index order_line_product on order_line (product_id);
create index orders_customer on orders (customer_id);
create index review_product on review (product_id);
create index shipment_order on shipment (order_id);
"""

TABLES = [
    "category", "supplier", "product", "tag", "product_tag", "store", "employee", "customer", "address", "orders",
    "order_line", "shipment", "review",
]

CATEGORIES = [
    ("Bicycles", None), ("Mountain Bikes", "Bicycles"), ("Road Bikes", "Bicycles"), ("City Bikes", "Bicycles"),
    ("Electric Bikes", "Bicycles"), ("Kids Bikes", "Bicycles"), ("Parts", None), ("Brakes", "Parts"), ("Wheels", "Parts"),
    ("Saddles", "Parts"), ("Pedals", "Parts"), ("Tires", "Parts"), ("Clothing", None), ("Helmets", "Clothing"),
    ("Gloves", "Clothing"), ("Jerseys", "Clothing"), ("Accessories", None), ("Lights", "Accessories"),
    ("Locks", "Accessories"), ("Pumps", "Accessories"), ("Bags", "Accessories"),
]
# Category: names of models, price from and to, weight from and to.
MODELS = {
    "Mountain Bikes": (["Ridge", "Summit", "Canyon Fox", "Boulder", "Trailhead"], 650, 4200, 10.5, 15.5),
    "Road Bikes": (["Velocity", "Aero", "Tempo", "Peloton", "Breakaway"], 720, 5200, 6.8, 9.8),
    "City Bikes": (["Metro", "Boulevard", "Amsterdam", "Courier", "Parkside"], 320, 1150, 12.0, 18.5),
    "Electric Bikes": (["Volt", "Current", "Spark", "Ampere"], 1450, 5600, 18.0, 26.5),
    "Kids Bikes": (["Sprout", "Comet", "Ladybug", "Rocket"], 95, 340, 4.2, 9.5),
    "Brakes": (["Grip", "Halt", "Modulo", "Stopline"], 18, 210, 0.2, 0.7),
    "Wheels": (["Orbit", "Spin", "Halo", "Zenith"], 60, 890, 0.7, 2.4),
    "Saddles": (["Comfort", "Marathon", "Gel Plus", "Classic Leather"], 22, 190, 0.2, 0.8),
    "Pedals": (["Flat", "Clip", "Touring", "Magnesium"], 15, 160, 0.2, 0.5),
    "Tires": (["Mudlord", "Slick", "Gravel King", "Winter Spike"], 14, 85, 0.3, 1.1),
    "Helmets": (["Guardian", "Airflow", "Junior Dome", "Urban Shell"], 28, 240, 0.2, 0.6),
    "Gloves": (["Palm", "Windproof", "Half Finger"], 12, 65, 0.1, 0.2),
    "Jerseys": (["Breeze", "Tour", "Thermo", "Retro"], 29, 140, 0.1, 0.4),
    "Lights": (["Beacon", "Firefly", "Northstar", "Blinker"], 9, 130, 0.1, 0.4),
    "Locks": (["Fort", "Chain Master", "Foldable", "Cable"], 12, 120, 0.4, 2.6),
    "Pumps": (["Floor Pro", "Mini", "Turbo"], 11, 95, 0.1, 1.9),
    "Bags": (["Pannier", "Handlebar", "Messenger", "Saddlebag"], 19, 170, 0.2, 1.4),
}
SUFFIXES = ["", "100", "200", "300", "Pro", "Lite", "X", "Sport", "II", "Plus", "Elite", "Comp"]
COLORS = ["black", "red", "blue", "green", "white", "silver", "orange"]
TAGS = [
    "bestseller", "new arrival", "clearance", "eco-friendly", "lightweight", "waterproof", "handmade", "limited edition",
    "gift idea", "race ready", "commuter", "family",
]
SUPPLIERS = [
    ("Alpine Cycles", "Innsbruck", "Austria"), ("Nordic Gear", "Oslo", "Norway"), ("Velo Lyon", "Lyon", "France"),
    ("Shimada Components", "Osaka", "Japan"), ("Pacific Wheelworks", "Portland", "United States"),
    ("Bianchi & Figli", "Milan", "Italy"), ("Rhine Metal", "Cologne", "Germany"), ("Delta Tires", "Rotterdam", "Netherlands"),
    ("Formosa Frames", "Taichung", "Taiwan"), ("Highland Leather", "Edinburgh", "United Kingdom"),
    ("Iberia Textil", "Porto", "Portugal"), ("Great Lakes Lighting", "Chicago", "United States"),
    ("Moravia Locks", "Brno", "Czechia"), ("Helvetia Helmets", "Basel", "Switzerland"), ("Bavaria Bags", "Munich", "Germany"),
    ("Tasman Outdoor", "Hobart", "Australia"),
]
STORES = [
    ("Harbor Street", "Boston", "2009-04-18"), ("Market Square", "Portland", "2011-09-03"), ("Lakeside", "Chicago", "2013-05-25"),
    ("Mission", "San Francisco", "2016-03-12"), ("Capitol Hill", "Denver", "2018-10-06"), ("Riverwalk", "Austin", "2021-06-19"),
]
CITIES = {
    "United States": ["Boston", "Portland", "Chicago", "San Francisco", "Denver", "Austin", "Seattle", "New York", "Atlanta"],
    "Canada": ["Toronto", "Vancouver", "Montreal", "Calgary"], "Germany": ["Berlin", "Hamburg", "Munich", "Cologne"],
    "France": ["Paris", "Lyon", "Nantes"], "United Kingdom": ["London", "Bristol", "Edinburgh"],
    "Netherlands": ["Amsterdam", "Utrecht"], "Japan": ["Tokyo", "Osaka"],
}
COUNTRY_WEIGHTS = [55, 14, 11, 7, 7, 4, 2]
FIRST_NAMES = (
    "Emma Liam Olivia Noah Ava Ethan Sophia Mason Isabella Lucas Mia Logan Charlotte Elijah Amelia James Harper Benjamin "
    "Evelyn Henry Abigail Samuel Emily Daniel Ella David Scarlett Joseph Grace Carter Chloe Owen Victoria Wyatt Riley Jack "
    "Nora Luke Hannah Gabriel Zoe Anthony Lena Felix Jonas Clara Hugo Louise Antoine Yuki Kenji Sanne Pieter Fatima Omar "
    "Priya Arjun Mei Wei Carlos Lucia Diego Ines Marta Nikolai Anya Tariq Leila"
).split()
LAST_NAMES = (
    "Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson Anderson "
    "Thomas Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis Robinson Walker Young "
    "Allen King Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter Roberts "
    "Weber Schmidt Fischer Becker Dubois Moreau Laurent Tanaka Sato Jansen Visser O'Brien Murphy Kowalski Novak Rossi Costa "
    "Silva Petrov Haddad Khan Patel Chen Wang"
).split()
STREETS = (
    "Maple Street|Oak Avenue|Cedar Lane|Elm Street|Park Road|Hill Street|Station Road|Church Street|Mill Lane|River Road|"
    "Garden Street|King Street|Bridge Street|Lake Avenue|Spring Street|Forest Drive|School Lane|Market Street"
).split("|")
CARRIERS = [("UPS", 38), ("FedEx", 30), ("DHL", 22), ("Bike Courier", 10)]
REVIEW_TITLES = {
    5: ["Love it", "Excellent", "Better than expected", "Worth every cent", "Perfect"],
    4: ["Very good", "Solid choice", "Nearly perfect", "Happy with it"],
    3: ["It is okay", "Average", "Does its job", "Mixed feelings"],
    2: ["Disappointing", "Not as described", "Could be better"],
    1: ["Broke after a week", "Do not buy", "Terrible", "Arrived damaged"],
}
BODIES = [
    "I use it every day.", "Delivery was quick.", "The color is different from the picture.", "My daughter likes it a lot.",
    "It feels light and sturdy.", "A bit noisy at first.", "Customer service was helpful.", "The size runs small.",
    "It survived a winter of commuting.", "I would buy it again.", "The screws were missing.", "Easy to install.",
]


class Maker:
    """Rows of all tables, from one stream of random numbers."""

    def __init__(self):
        self.random = random.Random(SEED)
        self.rows = {table: [] for table in TABLES}

    def add(self, table, *cells):
        self.rows[table].append(cells)

    def day(self, first, last):
        return first + dt.timedelta(days=self.random.randrange((last - first).days + 1))

    def weighted(self, pairs):
        return self.random.choices([one for one, _ in pairs], [weight for _, weight in pairs])[0]

    def make(self):
        self.catalog()
        self.staff()
        self.customers()
        self.orders()
        self.reviews()
        return self.rows

    def catalog(self):
        ids = {name: number for number, (name, _) in enumerate(CATEGORIES, 1)}
        for name, parent in CATEGORIES:
            self.add("category", ids[name], name, ids.get(parent))
        for number, (name, city, country) in enumerate(SUPPLIERS, 1):
            domain = "".join(ch for ch in name.lower() if ch.isalpha())
            phone = f"+{self.random.randrange(1, 99)} {self.random.randrange(100, 999)} {self.random.randrange(10000, 99999)}"
            email = f"sales@{domain}.example" if self.random.random() < 0.8 else None
            self.add("supplier", number, name, city, country, email, phone if self.random.random() < 0.9 else None)
        for number, name in enumerate(TAGS, 1):
            self.add("tag", number, name)
        number = 0
        for category, (models, low, high, light, heavy) in MODELS.items():
            bike = category.endswith("Bikes")
            for model in models:
                suppliers = self.random.sample(range(1, len(SUPPLIERS) + 1), 2)
                for suffix in sorted(self.random.sample(SUFFIXES, 3 if bike else 4), key=SUFFIXES.index):
                    number += 1
                    self.product(number, ids[category], suppliers, f"{model} {suffix}".strip(), (low, high, light, heavy))

    def product(self, number, category, suppliers, name, limits):
        low, high, light, heavy = limits
        price = round(self.random.triangular(low, high, low + (high - low) * 0.25)) - 0.01
        cost = round(price * self.random.uniform(0.45, 0.72), 2)
        weight = round(self.random.uniform(light, heavy), 2) if self.random.random() < 0.93 else None
        stock = 0 if self.random.random() < 0.08 else self.random.randrange(1, 160)
        color = self.random.choice(COLORS) if self.random.random() < 0.85 else None
        released = self.day(dt.date(2015, 1, 10), dt.date(2025, 3, 1))
        description = f"{name} in {color}." if color and self.random.random() < 0.7 else None
        self.add(
            "product", number, f"SKU-{1000 + number * 7}", name, category, self.random.choice(suppliers), price, cost, weight,
            stock, color, self.random.random() < 0.09, released, description,
        )
        for tag in sorted(self.random.sample(range(1, len(TAGS) + 1), self.random.choice([0, 1, 1, 2, 2, 3]))):
            self.add("product_tag", number, tag)

    def staff(self):
        for number, store in enumerate(STORES, 1):
            self.add("store", number, store[0], store[1], dt.date.fromisoformat(store[2]))
        self.names = self.random.sample([(first, last) for first in FIRST_NAMES for last in LAST_NAMES], 1400)
        chief = self.employee("Managing Director", 1, None, 148000)
        for store in range(1, len(STORES) + 1):
            manager = self.employee("Store Manager", store, chief, 82000)
            for title, count, salary in [("Sales Assistant", 4, 41000), ("Mechanic", 2, 52000), ("Cashier", 1, 36000)]:
                for _ in range(count):
                    self.employee(title, store, manager, salary)

    def employee(self, title, store, manager, salary):
        first, last = self.names.pop()
        number = len(self.rows["employee"]) + 1
        opened = dt.date.fromisoformat(STORES[store - 1][2])
        salary = round(salary * self.random.uniform(0.85, 1.25), -2)
        email = f"{first}.{last}@shop.example".lower().replace("'", "")
        self.add("employee", number, first, last, title, store, manager, self.day(opened, LAST_DAY), salary, email)
        return number

    def customers(self):
        self.addresses = {}
        countries = list(CITIES)
        for number in range(1, 1201):
            first, last = self.names.pop()
            email = f"{first}.{last}{number}@mail.example".lower().replace("'", "")
            phone = f"555-{self.random.randrange(1000, 9999)}"
            birth = self.day(dt.date(1948, 1, 1), dt.date(2007, 1, 1))
            self.add(
                "customer", number, first, last, email if self.random.random() < 0.92 else None,
                phone if self.random.random() < 0.7 else None, birth if self.random.random() < 0.8 else None,
                self.day(dt.date(2018, 1, 2), dt.date(2025, 6, 1)), self.random.random() < 0.4,
            )
            for _ in range(self.weighted([(1, 72), (2, 24), (3, 4)])):
                country = self.random.choices(countries, COUNTRY_WEIGHTS)[0]
                street = f"{self.random.randrange(1, 240)} {self.random.choice(STREETS)}"
                address = len(self.rows["address"]) + 1
                city = self.random.choice(CITIES[country])
                self.add("address", address, number, street, f"{self.random.randrange(10000, 99999)}", city, country)
                self.addresses.setdefault(number, []).append(address)

    def orders(self):
        prices = {row[0]: row[5] for row in self.rows["product"]}
        popularity = [1 / (1 + self.random.randrange(40)) for _ in prices]
        buyers = [row for row in self.rows["customer"] if self.random.random() < 0.85]
        eagerness = [self.random.expovariate(1) + 0.05 for _ in buyers]
        sellers = [row for row in self.rows["employee"] if row[3] in ("Sales Assistant", "Store Manager")]
        drafts = []
        for customer in self.random.choices(buyers, eagerness, k=3600):
            day = self.day(max(customer[6], dt.date(2020, 1, 1)), LAST_DAY)
            time = dt.time(self.random.randrange(8, 22), self.random.randrange(60), self.random.randrange(60))
            drafts.append((dt.datetime.combine(day, time), customer[0]))
        for number, (moment, customer) in enumerate(sorted(drafts), 1):
            able = [row[0] for row in sellers if row[6] <= moment.date()]
            employee = self.random.choice(able) if able and self.random.random() < 0.45 else None
            billing = self.random.choice(self.addresses[customer])
            shipping = self.random.choice(self.addresses[customer]) if employee is None else None
            status = self.status(moment.date())
            discount = self.weighted([(0, 80), (0.05, 10), (0.1, 7), (0.2, 3)])
            note = self.random.choice(["gift wrap", "call before delivery", "leave at the door"])
            note = note if self.random.random() < 0.12 else None
            self.add("orders", number, customer, employee, billing, shipping, status, moment, discount, note)
            chosen = set(self.random.choices(list(prices), popularity, k=self.weighted([(1, 45), (2, 25), (3, 15), (5, 15)])))
            for product in sorted(chosen):
                quantity = self.weighted([(1, 78), (2, 15), (3, 4), (4, 3)])
                price = round(prices[product] * self.random.choice([1, 1, 1, 0.95, 0.9]), 2)
                self.add("order_line", number, product, quantity, price)
            if shipping is not None and status in ("shipped", "delivered", "returned"):
                self.ship(number, moment.date(), status)

    def status(self, day):
        age = (LAST_DAY - day).days
        if age < 4:
            return self.weighted([("pending", 60), ("paid", 40)])
        if age < 14:
            return self.weighted([("paid", 30), ("shipped", 55), ("delivered", 10), ("cancelled", 5)])
        return self.weighted([("delivered", 88), ("cancelled", 6), ("returned", 5), ("shipped", 1)])

    def ship(self, order, day, status):
        shipped = day + dt.timedelta(days=self.random.randrange(0, 4))
        delivered = None if status == "shipped" else shipped + dt.timedelta(days=self.random.randrange(1, 9))
        cost = round(self.random.triangular(4.5, 60, 7.9), 2)
        for _ in range(2 if self.random.random() < 0.06 else 1):
            self.add("shipment", len(self.rows["shipment"]) + 1, order, self.weighted(CARRIERS), shipped, delivered, cost)

    def reviews(self):
        bought = {}
        for order, product, _, _ in self.rows["order_line"]:
            bought[order] = [*bought.get(order, []), product]
        orders = {row[0]: (row[1], row[6].date()) for row in self.rows["orders"]}
        quality = {row[0]: self.random.triangular(1.5, 5, 4.3) for row in self.rows["product"]}
        for order, products in bought.items():
            customer, day = orders[order]
            for product in products:
                if self.random.random() > 0.24:
                    continue
                rating = min(5, max(1, round(self.random.gauss(quality[product], 0.9))))
                body = " ".join(self.random.sample(BODIES, self.random.randrange(1, 4)))
                posted = min(day + dt.timedelta(days=self.random.randrange(3, 60)), LAST_DAY)
                title = self.random.choice(REVIEW_TITLES[rating]) if self.random.random() < 0.85 else None
                body = body if self.random.random() < 0.8 else None
                self.add("review", len(self.rows["review"]) + 1, product, customer, rating, title, body, posted)


def plain(cell):
    """A cell for SQLite."""
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ")
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

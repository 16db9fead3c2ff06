use super::*;
use crate::database::{DatabaseConfig, open};
use spanwise_lang::domain::{Domain, Table, TableSource};

/// Tables of queries hold one name.
struct Names;

impl TableSource for Names {
    fn read(&self, path: &str) -> Result<Table, String> {
        let rows = vec![(1, vec![format!("name of {}", path.len())])];
        Ok(Table { columns: vec!["name".to_owned()], rows, ..Table::default() })
    }
}

#[test]
fn print() {
    let Ok(path) = std::env::var("SCAFFOLD_DB") else { return };
    let database = open(&DatabaseConfig::new(format!("sqlite:{path}"))).unwrap();
    let schema = crate::schema::read(&*database, &mut |_, _, _| {}).unwrap();
    let options = Options {
        name: "shop".to_owned(),
        url: format!("sqlite:{path}"),
        password_env: None,
        tables: Vec::new(),
        exclude: Vec::new(),
        budget: BUDGET,
    };
    let project = project(&schema, &options).unwrap();
    std::fs::write("/tmp/scaffold/domain.toml", &project.files[0].1).unwrap();
    println!("{} signatures, {} bytes", project.signatures, project.files[0].1.len());
    println!("{:?}\n{:#?}", project.nouns, project.left_out);
}

//! The arguments of `torture`.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
usage: cargo run -p xtask -- torture --binary PATH [options]

  --binary PATH       the program to torture, as in target/release/spanwise
  --seconds N         time for all parts together [default: 120]
  --seed S            the seed of all random choices [default: 1]
  --only PART         kills, flips, files, requests or soak
  --model DIR         soak: serve a copy of this model instead of a small one
  --utterances FILE   soak: utterances to send, one a line as text or JSON
  --requests N        soak: send so many requests, whatever the time
  --connections N     soak: connections that send them [default: 8]
  --growth PERCENT    soak: most growth of memory after the first tenth of 20,000 requests or more [default: 5]
  --json              print one JSON object";

/// What to do.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) binary: PathBuf,
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) only: Option<String>,
    pub(crate) model: Option<PathBuf>,
    pub(crate) utterances: Option<PathBuf>,
    pub(crate) requests: Option<usize>,
    pub(crate) connections: usize,
    pub(crate) growth: f64,
    pub(crate) json: bool,
}

impl Options {
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let mut options = Self {
            binary: PathBuf::new(),
            seconds: 120,
            seed: 1,
            only: None,
            model: None,
            utterances: None,
            requests: None,
            connections: 8,
            growth: 5.0,
            json: false,
        };
        let mut args = args.iter();
        while let Some(name) = args.next() {
            if name == "--json" {
                options.json = true;
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{name} needs a value, or is not known"))?;
            match name.as_str() {
                "--binary" => options.binary = value.into(),
                "--seconds" => options.seconds = number(name, value)?,
                "--seed" => options.seed = number(name, value)?,
                "--only" => options.only = Some(value.clone()),
                "--model" => options.model = Some(value.into()),
                "--utterances" => options.utterances = Some(value.into()),
                "--requests" => options.requests = Some(number(name, value)?),
                "--connections" => options.connections = number::<usize>(name, value)?.clamp(1, 256),
                "--growth" => options.growth = number(name, value)?,
                _ => return Err(format!("there is no option {name}")),
            }
        }
        let known = super::PARTS.map(|(name, ..)| name);
        match &options.only {
            Some(only) if !known.contains(&only.as_str()) => {
                return Err(format!("there is no part {only}; the parts are {}", known.join(", ")));
            }
            _ => {}
        }
        let binary = &options.binary;
        options.binary = binary
            .canonicalize()
            .map_err(|error| format!("--binary `{}` cannot be used: {error}", binary.display()))?;
        Ok(options)
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} needs a number, found `{value}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_are_named() {
        let read = |text: &str| Options::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let options = read("--binary /bin/sh --seconds 5 --only flips --json").unwrap();
        assert_eq!((options.seconds, options.only.as_deref(), options.json), (5, Some("flips"), true));
        assert!(read("--binary /bin/sh --only nothing").unwrap_err().contains("kills, flips"));
        assert!(read("--seconds many").unwrap_err().contains("`many`"));
        assert!(read("--binary /no/such").unwrap_err().contains("/no/such"));
    }
}

//! `shoal graph`: nodes and topics as a picture.

mod dot;
mod layout;
mod svg;

use crate::problem::Problem;
use crate::snapshot::Snapshot;
use crate::{ls, place};
use shoal_registry::Kind;
use std::collections::BTreeSet;
use std::io::Write;

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Format {
    /// A drawing
    #[arg(long)]
    svg: bool,
    /// Text for Graphviz
    #[arg(long)]
    dot: bool,
}

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    format: Format,
    /// Also what every node has: /rosout, /parameter_events, parameter services
    #[arg(long)]
    all: bool,
}

pub fn run(place: &place::Options, options: &Options) -> Result<(), Problem> {
    let observer = place.observe()?;
    let picture = Picture::of(&Snapshot::take(&observer, place.domain()), options.all);
    let text = if options.format.svg { svg::draw(&picture) } else { dot::write(&picture) };
    Ok(write!(std::io::stdout().lock(), "{text}")?)
}

/// What is drawn: things, and arrows between them by their places in the list.
#[derive(Debug, Default)]
pub struct Picture {
    pub things: Vec<Thing>,
    pub arrows: BTreeSet<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    Node(String),
    Topic(String),
    Service(String),
}

impl Thing {
    pub fn name(&self) -> &str {
        match self {
            Thing::Node(name) | Thing::Topic(name) | Thing::Service(name) => name,
        }
    }
}

impl Picture {
    /// Arrows go as messages do: publisher → topic → subscription, client → service → server.
    pub fn of(s: &Snapshot, all: bool) -> Picture {
        let names = s.node_names();
        let mut picture = Picture::default();
        for node in s.nodes() {
            picture.place_of(Thing::Node(names[&node.slot].clone()));
        }
        for endpoint in s.live.iter().filter(|d| d.kind != Kind::Node && (all || !is_usual(&d.name))) {
            let node = picture.place_of(Thing::Node(ls::owner(&names, endpoint)));
            let name = endpoint.name.clone();
            let arrow = match endpoint.kind {
                Kind::Node => continue,
                Kind::Publisher => (node, picture.place_of(Thing::Topic(name))),
                Kind::Subscription => (picture.place_of(Thing::Topic(name)), node),
                Kind::Client => (node, picture.place_of(Thing::Service(name))),
                Kind::Service => (picture.place_of(Thing::Service(name)), node),
            };
            picture.arrows.insert(arrow);
        }
        picture
    }

    fn place_of(&mut self, thing: Thing) -> usize {
        self.things.iter().position(|known| *known == thing).unwrap_or_else(|| {
            self.things.push(thing);
            self.things.len() - 1
        })
    }
}

/// What every rclcpp or rclpy node has.
fn is_usual(name: &str) -> bool {
    const SERVICES: [&str; 7] = [
        "/describe_parameters",
        "/get_parameter_types",
        "/get_parameters",
        "/get_type_description",
        "/list_parameters",
        "/set_parameters",
        "/set_parameters_atomically",
    ];
    matches!(name, "/rosout" | "/parameter_events") || SERVICES.iter().any(|service| name.ends_with(service))
}

//! The canvas as a Mermaid flowchart, which GitHub and GitLab render.
//! <https://mermaid.js.org/syntax/flowchart.html>, <https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/creating-diagrams>

use super::canvas::{Box, Canvas, Mark};
use crate::base::text;
use std::fmt::Write as _;

/// Characters of a name that are shown.
const LONGEST_LABEL: usize = 60;

/// The colours by which GitHub's light and dark pages both can be read.
const CLASSES: &str = "  classDef added stroke:#1a7f37,stroke-width:3px\n  \
    classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4\n  \
    classDef changed stroke:#bf8700,stroke-width:3px\n";

/// The flowchart's text, without the fence around it.
pub(crate) fn mermaid(canvas: &Canvas) -> String {
    let mut chart = String::from("flowchart LR\n");
    for (at, drawn) in canvas.boxes.iter().enumerate() {
        let class = match drawn.mark {
            Mark::Same => String::new(),
            mark => format!(":::{}", mark.word()),
        };
        let _ = writeln!(chart, "  n{at}[\"{}\"]{class}", label(&title(drawn)));
    }
    for arrow in &canvas.arrows {
        let line = if arrow.mark == Mark::Removed {
            "-.->"
        } else {
            "-->"
        };
        let kind = match (arrow.mark, arrow.kind.as_str()) {
            (Mark::Same, "unconditional" | "source") => String::new(),
            (mark, kind) => format!("|\"{}\"|", label(&format!("{} {kind}", mark.sign()))),
        };
        let _ = writeln!(chart, "  n{} {line}{kind} n{}", arrow.from, arrow.to);
    }
    chart.push_str(CLASSES);
    chart
}

fn title(drawn: &Box) -> String {
    match &drawn.previous_name {
        Some(old) => format!("{} {} (was {old})", drawn.mark.sign(), drawn.name),
        None => format!("{} {}", drawn.mark.sign(), drawn.name),
    }
}

/// A label that cannot leave its quotes: whatever means something to Mermaid, to Markdown or to HTML becomes the number
/// of the character, which Mermaid shows as the character.
fn label(raw: &str) -> String {
    let line = text::line(raw);
    let mut shown = String::new();
    for (count, c) in line.trim().chars().enumerate() {
        if count == LONGEST_LABEL {
            shown.push('\u{2026}');
            break;
        }
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | '_' | '+' | '\u{2212}') {
            shown.push(c);
        } else {
            let _ = write!(shown, "#{};", u32::from(c));
        }
    }
    shown
}

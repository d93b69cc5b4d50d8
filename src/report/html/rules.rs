//! Renders the explanations of rules, as in `rules explain`, which rule names on the page open; and the groups by rule.

use super::parts::{explanation, marked, name, tally};
use crate::report::RuleText;
use crate::report::view::View;
use sluicegate_base::text::markup as escape;
use sluicegate_pipelines::findings::DocumentationBlock;
use std::fmt::Write as _;

/// Number of findings above which the groups by rule are folded.
const MOST_OPEN: usize = 100;

/// Returns an empty group for each rule. The script moves the findings there, so that each is on the page once.
pub(super) fn groups(view: &View<'_>) -> String {
    let mut shown = String::from("<div id=\"by-rule\" hidden=\"\">\n");
    let open = if view.findings.len() > MOST_OPEN {
        ""
    } else {
        " open=\"\""
    };
    for (rule, counted) in &view.rules {
        let summary = view.about.rule(rule).map(|text| marked(&text.summary));
        let _ = writeln!(
            shown,
            "<details class=\"group card\"{open}><summary><h3 class=\"mono\">{}</h3> {}</summary>\n\
             <p class=\"note\"><span>{}</span> {}</p><div class=\"list\"></div></details>",
            name(rule),
            tally(counted),
            summary.unwrap_or_default(),
            explanation(view, rule).map(|id| opener(&id)).unwrap_or_default()
        );
    }
    shown + "</div>\n"
}

fn opener(id: &str) -> String {
    format!("<button type=\"button\" class=\"quiet\" popovertarget=\"{id}\">Why, and how to fix it</button>")
}

/// Returns the explanations of the rules with findings.
pub(super) fn explanations(view: &View<'_>) -> String {
    let known = view.rules.iter().filter_map(|(rule, _)| {
        let id = explanation(view, rule)?;
        view.about.rule(rule).map(|text| told(&id, text))
    });
    known.collect()
}

fn told(id: &str, rule: &RuleText) -> String {
    let mut shown = format!(
        "<div id=\"{id}\" class=\"explanation\" popover=\"\" role=\"dialog\" aria-labelledby=\"{id}-name\">\n\
         <div class=\"headline\"><h2 id=\"{id}-name\" class=\"mono\">{}</h2> \
         <button type=\"button\" popovertarget=\"{id}\" popovertargetaction=\"hide\">Close</button></div>\n",
        name(&rule.id)
    );
    rule.blocks.iter().for_each(|block| push(&mut shown, block));
    shown + "</div>\n"
}

fn push(shown: &mut String, block: &DocumentationBlock) {
    let _ = match block {
        DocumentationBlock::Heading(heading) => writeln!(shown, "<h3>{}</h3>", escape(heading)),
        DocumentationBlock::Text(text) => writeln!(shown, "<p>{}</p>", marked(text)),
        DocumentationBlock::Points(points) => {
            let points: Vec<String> = points.iter().map(|p| format!("<li>{}</li>", marked(p))).collect();
            writeln!(shown, "<ul class=\"plain\">{}</ul>", points.join("\n"))
        }
        DocumentationBlock::Yaml(yaml) => writeln!(shown, "<pre tabindex=\"0\">{}</pre>", escape(yaml)),
    };
}

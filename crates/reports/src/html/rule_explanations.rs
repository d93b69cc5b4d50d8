//! Renders the groups by rule, and the explanations of rules, as in `rules explain`, which rule names on the page open.

use super::elements::{escape_rule_name, find_explanation_id, render_inline_code, render_tally};
use crate::RuleText;
use crate::view::View;
use sluicegate_base::text::escape_markup as escape;
use sluicegate_pipelines::findings::DocumentationBlock;
use std::fmt::Write as _;

/// Number of findings above which the groups by rule are folded.
const MAX_OPEN_FINDINGS: usize = 100;

/// Renders an empty group for each rule. If the reader groups by rule, the script moves the findings from the files to
/// these groups, so that each finding is on the page once.
pub(super) fn render_rule_groups(view: &View<'_>) -> String {
    let mut html = String::from("<div id=\"by-rule\" hidden=\"\">\n");
    let open_attribute = if view.findings.len() > MAX_OPEN_FINDINGS {
        ""
    } else {
        " open=\"\""
    };
    for (rule, tally_of_rule) in &view.rules {
        let _ = writeln!(
            html,
            "<details class=\"group card\"{open_attribute}><summary><h3 class=\"mono\">{}</h3> {}</summary>\n\
             {}<div class=\"list\"></div></details>",
            escape_rule_name(rule),
            render_tally(tally_of_rule),
            render_rule_note(view, rule)
        );
    }
    html + "</div>\n"
}

/// Renders the summary of a rule and the button that opens its explanation. Returns an empty text if the rule is
/// unknown, such as a rule of the platform that has no documentation here.
fn render_rule_note(view: &View<'_>, rule: &str) -> String {
    let Some(text) = view.context.find_rule(rule) else {
        return String::new();
    };
    let button = find_explanation_id(view, rule).map(|id| render_explanation_button(&id));
    format!(
        "<p class=\"note\"><span>{}</span> {}</p>",
        render_inline_code(&text.summary),
        button.unwrap_or_default()
    )
}

/// Renders the button that opens the explanation with this id.
fn render_explanation_button(id: &str) -> String {
    format!("<button type=\"button\" class=\"quiet\" popovertarget=\"{id}\">Why, and how to fix it</button>")
}

/// Renders the explanation of each rule that has findings and a description.
pub(super) fn render_explanations(view: &View<'_>) -> String {
    let explanations = view.rules.iter().filter_map(|(rule, _)| {
        let id = find_explanation_id(view, rule)?;
        view.context
            .find_rule(rule)
            .map(|text| render_explanation(&id, text))
    });
    explanations.collect()
}

/// Renders the explanation of a rule as a popover, which buttons with the rule's name open.
fn render_explanation(id: &str, rule: &RuleText) -> String {
    let mut html = format!(
        "<div id=\"{id}\" class=\"explanation\" popover=\"\" role=\"dialog\" aria-labelledby=\"{id}-name\">\n\
         <div class=\"headline\"><h2 id=\"{id}-name\" class=\"mono\">{}</h2> \
         <button type=\"button\" popovertarget=\"{id}\" popovertargetaction=\"hide\">Close</button></div>\n",
        escape_rule_name(&rule.id)
    );
    rule.blocks.iter().for_each(|block| push_block(&mut html, block));
    html + "</div>\n"
}

/// Adds a part of a rule's explanation as HTML.
fn push_block(html: &mut String, block: &DocumentationBlock) {
    let _ = match block {
        DocumentationBlock::Heading(heading) => writeln!(html, "<h3>{}</h3>", escape(heading)),
        DocumentationBlock::Text(text) => writeln!(html, "<p>{}</p>", render_inline_code(text)),
        DocumentationBlock::Points(points) => {
            let points: Vec<String> = points
                .iter()
                .map(|p| format!("<li>{}</li>", render_inline_code(p)))
                .collect();
            writeln!(html, "<ul class=\"plain\">{}</ul>", points.join("\n"))
        }
        DocumentationBlock::Yaml(yaml) => writeln!(html, "<pre tabindex=\"0\">{}</pre>", escape(yaml)),
    };
}

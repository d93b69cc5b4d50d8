//! Renders the sticky filter bar: search, grouping, levels, the number of shown findings, and the CSV export.

use crate::finding_tone::Tone;
use crate::view::View;
use std::fmt::Write as _;

const SEARCH: &str = r#"<input id="text" type="search" aria-label="Search in paths, rules and messages" placeholder="Search path, rule, message" autocomplete="off" spellcheck="false"/>
"#;

const GROUPING_CONTROLS: &str = r#"<fieldset class="switch"><legend class="unseen">Group the findings</legend>
<label><input type="radio" name="by" value="file" checked=""/><span>By file</span></label>
<label><input type="radio" name="by" value="rule"/><span>By rule</span></label></fieldset>
"#;

const ACTIONS: &str = r#"<button type="button" id="fold">Expand all</button>
<button type="button" id="csv" title="Save the shown findings as a table">CSV</button>
"#;

const SELECTION_STATUS: &str = r#"<p id="shown" role="status"></p><span id="chosen"></span><button type="button" id="clear" class="quiet" hidden="">Clear the filter</button><span id="said" class="unseen" role="status"></span>"#;

/// Renders the bar with the search field and a button for each level that has findings. It is hidden until the script
/// runs, because it has no effect without the script.
pub(super) fn render_filter_bar(view: &View<'_>) -> String {
    let mut level_buttons = String::new();
    for tone in Tone::ALL {
        let number = view.finding_count(tone);
        if number > 0 {
            let _ = write!(
                level_buttons,
                "<button type=\"button\" class=\"{0}\" name=\"level\" value=\"{0}\" aria-pressed=\"false\">{1}</button>",
                tone.css_class(),
                tone.describe_count(number)
            );
        }
    }
    format!(
        "<form id=\"filter\" class=\"live\" hidden=\"\" role=\"search\" aria-label=\"Filter the findings\">\n{SEARCH}{GROUPING_CONTROLS}{ACTIONS}\
         <div class=\"line\">{SELECTION_STATUS}<span id=\"levels\">{level_buttons}</span></div>\n</form>\n"
    )
}

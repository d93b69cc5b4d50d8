//! A sentence in place of a picture, if there is nothing to draw: a chart is never empty.

use super::label::{FONT_SIZE, text_width};
use super::svg::{FONT_FAMILY, MARGIN};
use sluicegate_base::text;

/// The height of the line of text, in pixels.
const LINE_HEIGHT: i32 = 20;

/// The color of the text, which is legible on light and on dark pages.
const COLOR: &str = "#768390";

/// Renders an SVG file that shows only this sentence.
pub fn render_sentence(sentence: &str) -> String {
    let (width, height) = (text_width(sentence) + 2 * MARGIN, LINE_HEIGHT + 2 * MARGIN);
    let sentence = text::escape_markup(sentence);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sg-picture\" role=\"img\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"{FONT_FAMILY}\" font-size=\"{FONT_SIZE}\">\
         <title>{sentence}</title><text x=\"{MARGIN}\" y=\"{}\" fill=\"{COLOR}\">{sentence}</text></svg>",
        MARGIN + 14
    )
}

/// Renders a Mermaid flowchart that shows only this sentence, without the code fence around it.
pub fn render_sentence_chart(sentence: &str) -> String {
    format!(
        "flowchart LR\n  n0[\"{}\"]\n",
        super::mermaid::escape_label(sentence)
    )
}

//! The rows of a grid variable from a file.

use super::document::ROOT_PATH;
use super::fields::reject_unquoted;
use super::{DefinitionError, Document};
use crate::api::Grid;
use serde_json::Value;
use sluicegate_base::text::format_count;

/// Reads the rows of a grid variable: a list of lists of strings, all of the same length.
pub fn read_grid(document: &Document) -> Result<Grid, DefinitionError> {
    let Value::Array(rows) = &document.value else {
        return Err(document.error_at(ROOT_PATH, "must be a list of rows"));
    };
    let mut grid = Grid::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let path = format!("[{index}]");
        let Value::Array(cells) = row else {
            return Err(document.error_at(&path, "must be a row: a list of strings"));
        };
        let mut texts = Vec::with_capacity(cells.len());
        for (column, cell) in cells.iter().enumerate() {
            texts.push(read_cell(document, &format!("{path}[{column}]"), cell)?);
        }
        if let Some(first_row) = grid.first().filter(|first_row| first_row.len() != texts.len()) {
            let cell_count = format_count(texts.len(), "cell");
            let message = format!("has {cell_count}, but the first row has {}", first_row.len());
            return Err(document.error_at(&path, message));
        }
        grid.push(texts);
    }
    Ok(grid)
}

/// Returns the text of the cell at `path`. Fails if the value is not a string in the file, for example a number.
fn read_cell(document: &Document, path: &str, cell: &Value) -> Result<String, DefinitionError> {
    reject_unquoted(cell).map_err(|reason| document.error_at(path, reason))?;
    match cell.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(document.error_at(path, "must be a string; an empty string is \"\"")),
    }
}

//! Project variables and their overrides in environments (API document, "Project variable").

use super::CachedStatements as _;
use super::read_count;
use crate::page::Page;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction, params};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE variable (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        behaviour TEXT NOT NULL,
        description TEXT NOT NULL,
        value TEXT NOT NULL,
        double_resolution INTEGER NOT NULL,
        UNIQUE (project, name)
    ) STRICT;
    CREATE TABLE variable_override (
        variable INTEGER NOT NULL REFERENCES variable (number) ON DELETE CASCADE,
        environment TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (variable, environment)
    ) STRICT, WITHOUT ROWID;
";

/// The value of a variable or an override: a string or a number.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Scalar)]
pub(crate) enum VariableValue {
    /// A value of a variable of type TEXT.
    Text(String),
    /// A value of a variable of type NUMBER.
    Number(Number),
}

/// A number in its original notation.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = f64)]
pub(crate) struct Number(serde_json::Number);

impl VariableValue {
    /// Converts a JSON string or number; returns `None` for any other JSON value.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) => Some(Self::Number(Number(number.clone()))),
            _ => None,
        }
    }

    /// Returns whether a variable of this type can have the value.
    pub(crate) fn has_type(&self, kind: &str) -> bool {
        match self {
            Self::Text(_) => kind == "TEXT",
            Self::Number(_) => kind == "NUMBER",
        }
    }
}

impl ToSql for VariableValue {
    /// Stores the value as JSON, so that a number keeps its spelling.
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = match self {
            Self::Text(text) => Value::from(text.as_str()).to_string(),
            Self::Number(Number(number)) => number.to_string(),
        };
        Ok(json.into())
    }
}

impl FromSql for VariableValue {
    /// Reads the value from the JSON in the database.
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let json =
            serde_json::from_str(value.as_str()?).map_err(|error| FromSqlError::Other(Box::new(error)))?;
        Self::from_json(&json).ok_or(FromSqlError::InvalidType)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Variable)]
pub(crate) struct StoredVariable {
    #[schema(format = "uuid")]
    pub id: String,
    /// The name, which never changes.
    pub name: String,
    /// The type: TEXT or NUMBER.
    #[serde(rename = "type")]
    pub kind: String,
    /// The behavior: SHARED or COPIED.
    pub behaviour: String,
    /// The variable's description; may be empty.
    pub description: String,
    /// A string or a number, depending on the type.
    pub value: VariableValue,
    /// Whether references within the value are resolved too.
    pub supports_double_resolution: bool,
}

/// The value of a variable in one environment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Override)]
pub(crate) struct StoredOverride {
    pub environment_name: String,
    /// The value in this environment.
    pub value: VariableValue,
}

/// A variable with its row number.
#[derive(Debug)]
pub(crate) struct VariableRow {
    number: i64,
    pub variable: StoredVariable,
}

/// The columns that [`read_variable`] reads, in its order.
const COLUMNS: &str = "id, name, type, behaviour, description, value, double_resolution, number";

/// Reads a variable from a row with the columns in [`COLUMNS`].
fn read_variable(row: &Row<'_>) -> rusqlite::Result<VariableRow> {
    Ok(VariableRow {
        variable: StoredVariable {
            id: row.get(0)?,
            name: row.get(1)?,
            kind: row.get(2)?,
            behaviour: row.get(3)?,
            description: row.get(4)?,
            value: row.get(5)?,
            supports_double_resolution: row.get(6)?,
        },
        number: row.get(7)?,
    })
}

/// Adds a variable. Returns false without any change if the project already has a variable with this name.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    project: Uuid,
    variable: &StoredVariable,
) -> rusqlite::Result<bool> {
    let inserted_count = transaction.execute_cached(
        "INSERT INTO variable (project, id, name, type, behaviour, description, value, double_resolution)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, name) DO NOTHING",
        params![
            project.to_string(),
            variable.id,
            variable.name,
            variable.kind,
            variable.behaviour,
            variable.description,
            variable.value,
            variable.supports_double_resolution,
        ],
    )?;
    Ok(inserted_count > 0)
}

/// Returns the project's variable with this name, or `None` if there is no such variable.
pub(crate) fn find_variable(
    connection: &Connection,
    project: Uuid,
    name: &str,
) -> rusqlite::Result<Option<VariableRow>> {
    connection
        .query_row_cached(
            &format!("SELECT {COLUMNS} FROM variable WHERE project = ? AND name = ?"),
            params![project.to_string(), name],
            read_variable,
        )
        .optional()
}

/// Returns a page of a project's variables, oldest first, and the total number of its variables.
pub(crate) fn list_variables(
    connection: &Connection,
    project: Uuid,
    page: Page,
) -> rusqlite::Result<(Vec<StoredVariable>, u64)> {
    let project = project.to_string();
    let total = connection.query_row_cached(
        "SELECT count(*) FROM variable WHERE project = ?",
        [&project],
        read_count,
    )?;
    let items = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM variable WHERE project = ? ORDER BY number LIMIT ? OFFSET ?"
        ))?
        .query_map(params![project, page.size, page.offset()], |row| {
            Ok(read_variable(row)?.variable)
        })?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}

/// Stores all fields of a variable, except its name and ID, which never change.
pub(crate) fn update(transaction: &Transaction<'_>, variable_row: &VariableRow) -> rusqlite::Result<()> {
    let VariableRow { number, variable } = variable_row;
    transaction.execute_cached(
        "UPDATE variable SET type = ?, behaviour = ?, description = ?, value = ?, double_resolution = ?
         WHERE number = ?",
        params![
            variable.kind,
            variable.behaviour,
            variable.description,
            variable.value,
            variable.supports_double_resolution,
            number,
        ],
    )?;
    Ok(())
}

/// Removes a variable. The database then removes its overrides, too (`ON DELETE CASCADE`). Returns false if there is no
/// such variable.
pub(crate) fn remove(transaction: &Transaction<'_>, project: Uuid, name: &str) -> rusqlite::Result<bool> {
    let removed_count = transaction.execute_cached(
        "DELETE FROM variable WHERE project = ? AND name = ?",
        params![project.to_string(), name],
    )?;
    Ok(removed_count > 0)
}

/// Returns the overrides of a variable, sorted by environment, optionally for only one environment.
pub(crate) fn list_overrides(
    connection: &Connection,
    variable_row: &VariableRow,
    environment: Option<&str>,
) -> rusqlite::Result<Vec<StoredOverride>> {
    connection
        .prepare_cached(
            "SELECT environment, value FROM variable_override
             WHERE variable = ?1 AND (?2 IS NULL OR environment = ?2) ORDER BY environment",
        )?
        .query_map(params![variable_row.number, environment], |row| {
            Ok(StoredOverride {
                environment_name: row.get(0)?,
                value: row.get(1)?,
            })
        })?
        .collect()
}

/// Adds the override of a variable for one environment, or replaces the existing override.
pub(crate) fn put_override(
    transaction: &Transaction<'_>,
    variable_row: &VariableRow,
    item: &StoredOverride,
) -> rusqlite::Result<()> {
    transaction.execute_cached(
        "INSERT OR REPLACE INTO variable_override VALUES (?, ?, ?)",
        params![variable_row.number, item.environment_name, item.value],
    )?;
    Ok(())
}

/// Removes an override. Returns false if there is no such override.
pub(crate) fn remove_override(
    transaction: &Transaction<'_>,
    variable_row: &VariableRow,
    environment: &str,
) -> rusqlite::Result<bool> {
    let removed_count = transaction.execute_cached(
        "DELETE FROM variable_override WHERE variable = ? AND environment = ?",
        params![variable_row.number, environment],
    )?;
    Ok(removed_count > 0)
}

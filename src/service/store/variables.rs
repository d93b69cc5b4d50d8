//! Project variables and their overrides in environments (API document, "Project variable").

use super::Statements as _;
use super::count;
use crate::service::page::Page;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction, params};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// The tables of this resource.
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

/// The value of a variable or of an override: a text or a number.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Scalar)]
pub(crate) enum VariableValue {
    /// For variables of type TEXT.
    Text(String),
    /// For variables of type NUMBER.
    Number(Number),
}

/// A number as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = f64)]
pub(crate) struct Number(serde_json::Number);

impl VariableValue {
    /// The scalar that a JSON value is, if it is one.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) => Some(Self::Number(Number(number.clone()))),
            _ => None,
        }
    }

    /// Whether a variable of this type can have the value.
    pub(crate) fn fits(&self, kind: &str) -> bool {
        match self {
            Self::Text(_) => kind == "TEXT",
            Self::Number(_) => kind == "NUMBER",
        }
    }
}

impl ToSql for VariableValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = match self {
            Self::Text(text) => Value::from(text.as_str()).to_string(),
            Self::Number(Number(number)) => number.to_string(),
        };
        Ok(json.into())
    }
}

impl FromSql for VariableValue {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let json =
            serde_json::from_str(value.as_str()?).map_err(|error| FromSqlError::Other(Box::new(error)))?;
        Self::of(&json).ok_or(FromSqlError::InvalidType)
    }
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Variable)]
pub(crate) struct StoredVariable {
    /// Its identifier.
    #[schema(format = "uuid")]
    pub id: String,
    /// Its name; it never changes.
    pub name: String,
    /// TEXT or NUMBER.
    #[serde(rename = "type")]
    pub kind: String,
    /// SHARED or COPIED.
    pub behaviour: String,
    /// What it is for; may be empty.
    pub description: String,
    /// A text or a number, as the type says.
    pub value: VariableValue,
    /// Whether references within the value are resolved too.
    pub supports_double_resolution: bool,
}

/// The value of a variable in one environment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Override)]
pub(crate) struct StoredOverride {
    /// The environment.
    pub environment_name: String,
    /// The value there.
    pub value: VariableValue,
}

/// A variable in its row.
#[derive(Debug)]
pub(crate) struct VariableRow {
    number: i64,
    /// The variable.
    pub variable: StoredVariable,
}

const COLUMNS: &str = "id, name, type, behaviour, description, value, double_resolution, number";

fn found(row: &Row<'_>) -> rusqlite::Result<VariableRow> {
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

/// Adds a variable; false, and nothing is changed, if the project has one of this name.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    project: Uuid,
    variable: &StoredVariable,
) -> rusqlite::Result<bool> {
    let inserted = transaction.execute_cached(
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
    Ok(inserted > 0)
}

/// The variable of a project by its name.
pub(crate) fn find(
    connection: &Connection,
    project: Uuid,
    name: &str,
) -> rusqlite::Result<Option<VariableRow>> {
    connection
        .query_row_cached(
            &format!("SELECT {COLUMNS} FROM variable WHERE project = ? AND name = ?"),
            params![project.to_string(), name],
            found,
        )
        .optional()
}

/// A page of the variables of a project, by age, and how many there are.
pub(crate) fn list(
    connection: &Connection,
    project: Uuid,
    page: Page,
) -> rusqlite::Result<(Vec<StoredVariable>, u64)> {
    let project = project.to_string();
    let total = connection.query_row_cached(
        "SELECT count(*) FROM variable WHERE project = ?",
        [&project],
        count,
    )?;
    let items = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM variable WHERE project = ? ORDER BY number LIMIT ? OFFSET ?"
        ))?
        .query_map(params![project, page.size, page.offset()], |row| {
            Ok(found(row)?.variable)
        })?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}

/// Writes everything of a variable that can change.
pub(crate) fn update(transaction: &Transaction<'_>, found: &VariableRow) -> rusqlite::Result<()> {
    let VariableRow { number, variable } = found;
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

/// Removes a variable with all its overrides; false if there is none.
pub(crate) fn remove(transaction: &Transaction<'_>, project: Uuid, name: &str) -> rusqlite::Result<bool> {
    let removed = transaction.execute_cached(
        "DELETE FROM variable WHERE project = ? AND name = ?",
        params![project.to_string(), name],
    )?;
    Ok(removed > 0)
}

/// The overrides of a variable by environment; all, or only that of one environment.
pub(crate) fn overrides(
    connection: &Connection,
    found: &VariableRow,
    environment: Option<&str>,
) -> rusqlite::Result<Vec<StoredOverride>> {
    connection
        .prepare_cached(
            "SELECT environment, value FROM variable_override
             WHERE variable = ?1 AND (?2 IS NULL OR environment = ?2) ORDER BY environment",
        )?
        .query_map(params![found.number, environment], |row| {
            Ok(StoredOverride {
                environment_name: row.get(0)?,
                value: row.get(1)?,
            })
        })?
        .collect()
}

/// Makes an override, in place of an earlier one.
pub(crate) fn put_override(
    transaction: &Transaction<'_>,
    found: &VariableRow,
    item: &StoredOverride,
) -> rusqlite::Result<()> {
    transaction.execute_cached(
        "INSERT OR REPLACE INTO variable_override VALUES (?, ?, ?)",
        params![found.number, item.environment_name, item.value],
    )?;
    Ok(())
}

/// Removes an override; false if there is none.
pub(crate) fn remove_override(
    transaction: &Transaction<'_>,
    found: &VariableRow,
    environment: &str,
) -> rusqlite::Result<bool> {
    let removed = transaction.execute_cached(
        "DELETE FROM variable_override WHERE variable = ? AND environment = ?",
        params![found.number, environment],
    )?;
    Ok(removed > 0)
}

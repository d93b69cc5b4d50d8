//! The provisioning file, with every condition that can be checked before the first call.
//!
//! Sections and keys are those of the API document's requests. Values that follow from the project are filled in if
//! they are missing, and rejected if they differ.

use crate::api::{NewConnection, NewEnvironment, NewProject, NewRepository};
use crate::definitions::document::ROOT_PATH;
use crate::definitions::environment::read_environment;
use crate::definitions::fields::FieldReader;
use crate::definitions::{DefinitionError, Document};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

const SECTIONS: [&str; 5] = ["project", "connection", "secret", "environment", "repository"];

/// The names that the API document replaces with neutral ones.
#[derive(Debug, Clone)]
pub struct PlatformNames {
    /// Type of the warehouse that authenticates by key pair, in upper case.
    pub key_pair_warehouse: String,
    /// Type of the warehouse that authenticates by password, in upper case.
    pub password_warehouse: String,
    /// The git provider, in lower case.
    pub git_provider: String,
}

impl PlatformNames {
    /// Returns how connections to this warehouse authenticate (`key_pair` or `password`), or `None` for an unknown
    /// warehouse.
    pub fn auth_type(&self, warehouse: &str) -> Option<&'static str> {
        if warehouse.eq_ignore_ascii_case(&self.key_pair_warehouse) {
            Some("key_pair")
        } else if warehouse.eq_ignore_ascii_case(&self.password_warehouse) {
            Some("password")
        } else {
            None
        }
    }
}

/// The variable or the file that contains a secret's value. The provisioning file itself must not contain the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    Variable(String),
    File(PathBuf),
}

/// A secret to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPlan {
    /// The runner of the project.
    pub agent_id: String,
    pub name: String,
    pub r#type: String,
    /// Name of the property that contains the secret's value.
    pub key: String,
    pub source: SecretSource,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProvisionPlan {
    pub project: NewProject,
    /// The default warehouse connection.
    pub connection: NewConnection,
    /// A secret, only for the full SaaS deployment.
    pub secret: Option<SecretPlan>,
    pub environment: NewEnvironment,
    /// The repository, not for the full SaaS deployment.
    pub repository: Option<NewRepository>,
}

/// Reads a provisioning plan from the document and checks that its sections agree. Only the deployment FULL_SAAS
/// supports a secret, and only other deployments support a repository.
pub fn read_plan(document: &Document, names: &PlatformNames) -> Result<ProvisionPlan, DefinitionError> {
    let root = FieldReader::new(document, ROOT_PATH, &document.value)?;
    root.reject_unknown_keys(&SECTIONS)?;
    let (project, auth_type) = read_project(&root.read_section("project")?, names)?;
    let connection = read_connection(&root.read_section("connection")?, &project, auth_type)?;
    let environment = read_plan_environment(document, &root, &connection, auth_type)?;
    let is_full_saas = project.agent_deployment_type == "FULL_SAAS";
    let secret = match root.get("secret") {
        None => None,
        Some(_) if !is_full_saas => {
            return Err(root.error_at("secret", "is supported only by the deployment FULL_SAAS"));
        }
        Some(value) => Some(read_secret(
            document,
            &FieldReader::new(document, "secret", value)?,
            &environment,
        )?),
    };
    let repository = match root.get("repository") {
        None => None,
        Some(_) if is_full_saas => {
            return Err(root.error_at("repository", "is not supported by the deployment FULL_SAAS"));
        }
        Some(value) => Some(read_repository(
            document,
            &FieldReader::new(document, "repository", value)?,
            names,
        )?),
    };
    Ok(ProvisionPlan {
        project,
        connection,
        secret,
        environment,
        repository,
    })
}

/// Reads the project. Returns it together with the way in which connections to its warehouse authenticate.
fn read_project(
    fields: &FieldReader<'_>,
    names: &PlatformNames,
) -> Result<(NewProject, &'static str), DefinitionError> {
    fields.reject_unknown_keys(&["name", "description", "warehouse", "agentDeploymentType"])?;
    let warehouse = fields.required_text("warehouse")?;
    let (key_pair_warehouse, password_warehouse) = (&names.key_pair_warehouse, &names.password_warehouse);
    let auth_type = names.auth_type(&warehouse).ok_or_else(|| {
        fields
            .error_at(
                "warehouse",
                format!("{warehouse:?} is neither {key_pair_warehouse} nor {password_warehouse}"),
            )
            .with_hint("set the platform's names for the warehouses with --warehouse-a and --warehouse-b")
    })?;
    let deployment = fields.required_text("agentDeploymentType")?;
    if !["HYBRID", "FULL_SAAS"].contains(&deployment.as_str()) {
        let message = format!("{deployment:?} is neither HYBRID nor FULL_SAAS");
        return Err(fields.error_at("agentDeploymentType", message));
    }
    let project = NewProject {
        name: fields.required_text("name")?,
        description: fields.find_possibly_empty_text("description")?,
        warehouse: warehouse.to_uppercase(),
        agent_deployment_type: deployment,
    };
    Ok((project, auth_type))
}

/// Reads the connection. Its provider and authentication follow from the project's warehouse, so the file need not
/// contain them.
fn read_connection(
    fields: &FieldReader<'_>,
    project: &NewProject,
    auth_type: &str,
) -> Result<NewConnection, DefinitionError> {
    fields.reject_unknown_keys(&["name", "platformConnectionType", "authProvider", "authType"])?;
    let provider = project.warehouse.to_lowercase();
    let connection_type = fields.find_text("platformConnectionType")?;
    Ok(NewConnection {
        name: fields.required_text("name")?,
        platform_connection_type: connection_type.unwrap_or_else(|| "dwh".to_owned()),
        auth_provider: read_implied_text(
            fields,
            "authProvider",
            &provider,
            "the provider is the project's warehouse in lower case",
        )?,
        auth_type: read_implied_text(
            fields,
            "authType",
            auth_type,
            "the project's warehouse requires this value",
        )?,
    })
}

/// Reads the environment of the plan and checks its connections. The file need not name the default connection, because
/// it can only be the plan's `connection`.
fn read_plan_environment(
    document: &Document,
    root: &FieldReader<'_>,
    connection: &NewConnection,
    auth_type: &str,
) -> Result<NewEnvironment, DefinitionError> {
    let definition = root
        .get("environment")
        .ok_or_else(|| root.error_at("environment", "is required"))?;
    // The name of the connection, by the connection type (`DWH` is a data warehouse) and then by the provider.
    let default_connections = BTreeMap::from([(
        "DWH".to_owned(),
        BTreeMap::from([(connection.auth_provider.clone(), connection.name.clone())]),
    )]);
    let environment = read_environment(
        document,
        "environment",
        definition,
        Some(default_connections.clone()),
    )?;
    check_environment_connections(document, &environment, &default_connections, auth_type)?;
    Ok(environment)
}

/// Returns `implied_text`, which follows from the project. The file may leave out the key, but must not contain another
/// value; `reason` explains the error.
fn read_implied_text(
    fields: &FieldReader<'_>,
    key: &str,
    implied_text: &str,
    reason: &str,
) -> Result<String, DefinitionError> {
    match fields.find_text(key)? {
        Some(text) if text != implied_text => {
            Err(fields.error_at(key, format!("{text:?} must be {implied_text:?}: {reason}")))
        }
        _ => Ok(implied_text.to_owned()),
    }
}

/// Checks that the environment uses the plan's connection (`default_connections`). Each connection override of the
/// environment must have the credentials for the project's warehouse, and must not have those for the other kind of
/// warehouse. `auth_type` is how the project's warehouse authenticates: `key_pair` or `password`.
fn check_environment_connections(
    document: &Document,
    environment: &NewEnvironment,
    default_connections: &BTreeMap<String, BTreeMap<String, String>>,
    auth_type: &str,
) -> Result<(), DefinitionError> {
    if environment.default_connections != *default_connections {
        let message = format!("must be this plan's connection: {}", json!(default_connections));
        return Err(document.error_at("environment.defaultConnections", message));
    }
    let (required_property, forbidden_property) = match auth_type {
        "key_pair" => ("privateKey", "password"),
        _ => ("password", "privateKey"),
    };
    for (index, connection_override) in environment.connection_overrides.iter().enumerate() {
        let path = format!("environment.connectionOverrides[{index}].connectionProperties");
        let properties = &connection_override.connection_properties;
        if !properties.contains_key(required_property) {
            let message =
                format!("has no {required_property}, which this warehouse needs for authentication");
            return Err(document.error_at(&path, message));
        }
        if properties.contains_key(forbidden_property) {
            let message = "is not used by this warehouse for authentication";
            return Err(document.error_at(&format!("{path}.{forbidden_property}"), message));
        }
    }
    Ok(())
}

/// Reads the secret. The default type is `DWH_PASSWORD`. Fails if no connection of the environment uses the secret.
fn read_secret(
    document: &Document,
    fields: &FieldReader<'_>,
    environment: &NewEnvironment,
) -> Result<SecretPlan, DefinitionError> {
    fields.reject_unknown_keys(&["agentId", "name", "type", "key", "valueFrom"])?;
    let (name, key) = (fields.required_text("name")?, fields.required_text("key")?);
    check_secret_use(fields, environment, &name, &key)?;
    let source = read_secret_source(document, fields)?;
    let secret_type = fields.find_text("type")?;
    Ok(SecretPlan {
        agent_id: fields.required_uuid("agentId")?,
        name,
        r#type: secret_type.unwrap_or_else(|| "DWH_PASSWORD".to_owned()),
        key,
        source,
    })
}

/// Checks that an overridden connection of the environment refers to the secret by its name, and that each property
/// with this name that also states a key states the same one. `fields` are the fields of the secret.
fn check_secret_use(
    fields: &FieldReader<'_>,
    environment: &NewEnvironment,
    name: &str,
    key: &str,
) -> Result<(), DefinitionError> {
    let properties = environment
        .connection_overrides
        .iter()
        .flat_map(|connection_override| connection_override.connection_properties.values());
    let mut is_used = false;
    for property in properties.filter(|property| property["secretName"] == name) {
        is_used = true;
        if let Some(secret_key) = property.get("secretKey").filter(|secret_key| **secret_key != key) {
            let message = format!("{key:?} differs from the environment's secretKey {secret_key}");
            return Err(fields.error_at("key", message));
        }
    }
    if is_used {
        return Ok(());
    }
    let message = format!("no connection in the environment uses the secret {name:?}");
    Err(fields.error_at("name", message))
}

/// Reads where the value of the secret is stored: the field `valueFrom` names either a variable or a file.
fn read_secret_source(
    document: &Document,
    fields: &FieldReader<'_>,
) -> Result<SecretSource, DefinitionError> {
    let Some(source_definition) = fields.get("valueFrom") else {
        return Err(fields.error_at("valueFrom", "must be { variable: NAME } or { file: PATH }"));
    };
    let source_path = fields.field_path("valueFrom");
    let source_fields = FieldReader::new(document, &source_path, source_definition)?;
    source_fields.reject_unknown_keys(&["variable", "file"])?;
    match (
        source_fields.find_text("variable")?,
        source_fields.find_text("file")?,
    ) {
        (Some(name), None) => Ok(SecretSource::Variable(name)),
        (None, Some(path)) => Ok(SecretSource::File(path.into())),
        _ => Err(fields.error_at("valueFrom", "must be { variable: NAME } or { file: PATH }")),
    }
}

/// Reads the repository. The only supported provider is the platform's git provider, which is also the default.
fn read_repository(
    document: &Document,
    fields: &FieldReader<'_>,
    names: &PlatformNames,
) -> Result<NewRepository, DefinitionError> {
    fields.reject_unknown_keys(&["provider", "providerParameters", "repositoryName"])?;
    let provider = fields
        .find_text("provider")?
        .map_or_else(|| names.git_provider.clone(), |provider| provider.to_lowercase());
    if provider != names.git_provider {
        let message = format!(
            "{provider:?} is not {}, the only supported provider",
            names.git_provider
        );
        return Err(fields
            .error_at("provider", message)
            .with_hint("set the platform's name for the provider with --git-provider"));
    }
    let Some(parameter_definition) = fields.get("providerParameters") else {
        return Err(fields.error_at("providerParameters", "must be { ownerName: … }"));
    };
    let parameters_path = fields.field_path("providerParameters");
    let parameter_fields = FieldReader::new(document, &parameters_path, parameter_definition)?;
    parameter_fields.reject_unknown_keys(&["ownerName"])?;
    Ok(NewRepository {
        provider,
        owner_name: parameter_fields.required_text("ownerName")?,
        repository_name: fields.required_text("repositoryName")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

    fn names() -> PlatformNames {
        PlatformNames {
            key_pair_warehouse: "WAREHOUSE_A".to_owned(),
            password_warehouse: "WAREHOUSE_B".to_owned(),
            git_provider: "git_provider_a".to_owned(),
        }
    }

    fn hybrid() -> String {
        format!(
            "project: {{ name: sales, warehouse: WAREHOUSE_A, agentDeploymentType: HYBRID }}
connection: {{ name: dwh }}
environment:
  name: production
  defaultAgentId: {AGENT}
  defaultUserAccessLevel: readOnly
  connectionOverrides:
    - connectionName: dwh
      connectionProperties:
        account: {{ value: acme }}
        privateKey: {{ secretName: key }}
repository:
  providerParameters: {{ ownerName: acme }}
  repositoryName: sales
"
        )
    }

    fn full_saas() -> String {
        format!(
            "project: {{ name: sales, warehouse: warehouse_b, agentDeploymentType: FULL_SAAS }}
connection: {{ name: dwh, platformConnectionType: dwh, authProvider: warehouse_b, authType: password }}
secret: {{ agentId: {AGENT}, name: pw, key: k, valueFrom: {{ variable: PW }} }}
environment:
  name: production
  defaultAgentId: {AGENT}
  defaultUserAccessLevel: default
  defaultConnections: {{ DWH: {{ warehouse_b: dwh }} }}
  connectionOverrides:
    - connectionName: dwh
      connectionProperties:
        port: {{ value: '5439' }}
        useSsl: {{ value: 'true' }}
        password: {{ secretName: pw, secretKey: k }}
"
        )
    }

    fn planned(text: &str) -> Result<ProvisionPlan, String> {
        let document = Document::parse(text.as_bytes(), Path::new("p.yaml")).unwrap();
        read_plan(&document, &names()).map_err(|error| error.to_string())
    }

    #[test]
    fn provision_fills_in_values_of_project() {
        let plan = planned(&hybrid()).unwrap();
        insta::assert_snapshot!(json!(plan.connection),
            @r#"{"name":"dwh","platformConnectionType":"dwh","authProvider":"warehouse_a","authType":"key_pair"}"#);
        assert_eq!(
            json!(plan.environment.default_connections),
            json!({ "DWH": { "warehouse_a": "dwh" } })
        );
        assert_eq!(plan.repository.unwrap().provider, "git_provider_a");
        let plan = planned(&full_saas()).unwrap();
        assert_eq!(plan.project.warehouse, "WAREHOUSE_B");
        assert_eq!(plan.secret.unwrap().r#type, "DWH_PASSWORD");
        let properties = &plan.environment.connection_overrides[0].connection_properties;
        assert_eq!(
            (&properties["port"]["value"], &properties["useSsl"]["value"]),
            (&json!("5439"), &json!("true"))
        );
    }

    fn refused(text: &str, cases: &[(&str, &str, &str)]) {
        for (from, to, said) in cases {
            let refused = planned(&text.replacen(from, to, 1)).unwrap_err();
            assert!(refused.contains(said), "{to}: {refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
    }

    #[test]
    fn each_condition_is_refused_at_its_line() {
        refused(
            &hybrid(),
            &[
                (
                    "WAREHOUSE_A",
                    "OTHER",
                    "p.yaml:1:25: project.warehouse: \"OTHER\" is neither WAREHOUSE_A nor WAREHOUSE_B",
                ),
                (
                    "HYBRID",
                    "LOCAL",
                    "project.agentDeploymentType: \"LOCAL\" is neither",
                ),
                (
                    "{ name: dwh }",
                    "{ name: dwh, authType: password }",
                    "p.yaml:2:26: connection.authType: \"password\" must be \"key_pair\"",
                ),
                (
                    "connectionName: dwh",
                    "connectionName: dw",
                    "p.yaml:8:7: environment.connectionOverrides[0].connectionName: \"dw\" is not one of the default connections",
                ),
                (
                    "privateKey: { secretName: key }",
                    "password: { secretName: key, secretKey: k }",
                    "has no privateKey",
                ),
                (
                    "{ secretName: key }",
                    "{ value: s3cret }",
                    "privateKey: must refer to a secret with `secretName`",
                ),
                (
                    "{ secretName: key }",
                    "s3cret",
                    "privateKey: the file must not contain a secret",
                ),
                (
                    "readOnly",
                    "owner",
                    "is not one of default, admin, runner, readOnly, noAccess",
                ),
                (
                    AGENT,
                    "7",
                    "environment.defaultAgentId: is a number but must be a string",
                ),
                (
                    "repository:\n",
                    "repository:\n  provider: svn\n",
                    "p.yaml:13:3: repository.provider: \"svn\" is not git_provider_a",
                ),
                (
                    "repository:",
                    "secret: { name: x }\nrepository:",
                    "secret: is supported only by the deployment FULL_SAAS",
                ),
            ],
        );
    }

    #[test]
    fn name_and_secret_reference_of_environment_are_refused_at_their_line() {
        refused(
            &hybrid(),
            &[
                (
                    "name: production",
                    "name: '..'",
                    "p.yaml:4:3: environment.name: \"..\" cannot be the name of an environment",
                ),
                (
                    "{ secretName: key }",
                    "{ secretName: key }\n        passphrase: { secretName: key, secretKey: '' }",
                    "p.yaml:12:9: environment.connectionOverrides[0].connectionProperties.passphrase: must name the key",
                ),
            ],
        );
    }

    #[test]
    fn each_condition_of_a_secret_is_refused_at_its_line() {
        refused(
            &full_saas(),
            &[
                (
                    "{ warehouse_b: dwh }",
                    "{ warehouse_b: other }",
                    "is not one of the default connections",
                ),
                (
                    "secretName: pw",
                    "secretName: other",
                    "no connection in the environment uses the secret \"pw\"",
                ),
                (
                    "{ secretName: pw, secretKey: k }",
                    "{ secretName: pw }",
                    "password: must name the key in the secret with `secretKey`",
                ),
                (
                    "secretKey: k",
                    "secretKey: l",
                    "\"k\" differs from the environment's secretKey \"l\"",
                ),
                (
                    "secretKey: k }",
                    "secretKey: k }\n        passphrase: { secretName: pw, secretKey: l }",
                    "\"k\" differs from the environment's secretKey \"l\"",
                ),
                ("{ variable: PW }", "s3cret", "secret.valueFrom: must be a map"),
                ("valueFrom:", "value:", "p.yaml:3:"),
                (
                    "secret:",
                    "repository: { repositoryName: x }\nsecret:",
                    "repository: is not supported",
                ),
                ("connection:", "conection:", "conection: unknown key"),
            ],
        );
    }
}

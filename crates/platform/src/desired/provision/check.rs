//! The provisioning file, with every condition that can be checked before the first call.
//!
//! Sections and keys are those of the API document's requests. Values that follow from the project are filled in if
//! they are missing, and rejected if they differ.

use crate::api::{NewConnection, NewEnvironment, NewProject, NewRepository};
use crate::desired::environment::environment;
use crate::desired::fields::Fields;
use crate::desired::{DesiredError, Document};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const SECTIONS: [&str; 5] = ["project", "connection", "secret", "environment", "repository"];

/// The names that the API document replaces with neutral ones.
#[derive(Debug, Clone)]
pub struct KnownNames {
    /// Type of the warehouse that authenticates by key pair, in upper case.
    pub key_pair_warehouse: String,
    /// Type of the warehouse that authenticates by password, in upper case.
    pub password_warehouse: String,
    /// The git provider, in lower case.
    pub git_provider: String,
}

impl KnownNames {
    /// Returns how connections to this warehouse authenticate, or `None` for an unknown warehouse.
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

/// The source of a secret; never the file itself.
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
    /// Name of the property that contains it.
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

/// Reads the file as a plan and checks all conditions.
pub fn plan(document: &Document, names: &KnownNames) -> Result<ProvisionPlan, DesiredError> {
    let root = Fields::of(document, "", &document.value)?;
    root.known(&SECTIONS)?;
    let section = |name: &'static str| match root.get(name) {
        Some(value) => Fields::of(document, name, value),
        None => Err(root.error(name, "is required")),
    };
    let (project, auth_type) = project(&section("project")?, names)?;
    let connection = connection(&section("connection")?, &project, auth_type)?;
    section("environment")?;
    let defaults = BTreeMap::from([(
        "DWH".to_owned(),
        BTreeMap::from([(connection.auth_provider.clone(), connection.name.clone())]),
    )]);
    let said = root.get("environment").unwrap_or(&Value::Null);
    let environment = environment(document, "environment", said, Some(defaults.clone()))?;
    check_environment(document, &environment, &defaults, auth_type)?;
    let full_saas = project.agent_deployment_type == "FULL_SAAS";
    let secret = match root.get("secret") {
        None => None,
        Some(_) if !full_saas => {
            return Err(root.error("secret", "is supported only by the deployment FULL_SAAS"));
        }
        Some(value) => Some(secret(
            document,
            &Fields::of(document, "secret", value)?,
            &environment,
        )?),
    };
    let repository = match root.get("repository") {
        None => None,
        Some(_) if full_saas => {
            return Err(root.error("repository", "is not supported by the deployment FULL_SAAS"));
        }
        Some(value) => Some(repository(
            document,
            &Fields::of(document, "repository", value)?,
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

fn project(fields: &Fields<'_>, names: &KnownNames) -> Result<(NewProject, &'static str), DesiredError> {
    fields.known(&["name", "description", "warehouse", "agentDeploymentType"])?;
    let warehouse = fields.required("warehouse")?;
    let (a, b) = (&names.key_pair_warehouse, &names.password_warehouse);
    let auth_type = names.auth_type(&warehouse).ok_or_else(|| {
        fields
            .error("warehouse", format!("{warehouse:?} is neither {a} nor {b}"))
            .with_hint("set the platform's names for them with --warehouse-a and --warehouse-b")
    })?;
    let deployment = fields.required("agentDeploymentType")?;
    if !["HYBRID", "FULL_SAAS"].contains(&deployment.as_str()) {
        let said = format!("{deployment:?} is neither HYBRID nor FULL_SAAS");
        return Err(fields.error("agentDeploymentType", said));
    }
    let project = NewProject {
        name: fields.required("name")?,
        description: fields.any_text("description")?,
        warehouse: warehouse.to_uppercase(),
        agent_deployment_type: deployment,
    };
    Ok((project, auth_type))
}

fn connection(
    fields: &Fields<'_>,
    project: &NewProject,
    auth_type: &str,
) -> Result<NewConnection, DesiredError> {
    fields.known(&["name", "platformConnectionType", "authProvider", "authType"])?;
    let follows = |key: &str, value: &str, why: &str| match fields.text(key)? {
        Some(said) if said != value => Err(fields.error(key, format!("{said:?} must be {value:?}: {why}"))),
        _ => Ok(value.to_owned()),
    };
    let provider = project.warehouse.to_lowercase();
    let kind = fields.text("platformConnectionType")?;
    Ok(NewConnection {
        name: fields.required("name")?,
        platform_connection_type: kind.unwrap_or_else(|| "dwh".to_owned()),
        auth_provider: follows(
            "authProvider",
            &provider,
            "the provider is the project's warehouse in lower case",
        )?,
        auth_type: follows("authType", auth_type, "the project's warehouse requires it")?,
    })
}

/// Checks that the environment's connections are the project's, with the credentials that its warehouse requires.
fn check_environment(
    document: &Document,
    environment: &NewEnvironment,
    defaults: &BTreeMap<String, BTreeMap<String, String>>,
    auth_type: &str,
) -> Result<(), DesiredError> {
    if environment.default_connections != *defaults {
        let said = format!("must be the connection above: {}", json!(defaults));
        return Err(document.error("environment.defaultConnections", said));
    }
    let (needed, foreign) = match auth_type {
        "key_pair" => ("privateKey", "password"),
        _ => ("password", "privateKey"),
    };
    for (index, it) in environment.connection_overrides.iter().enumerate() {
        let path = format!("environment.connectionOverrides[{index}].connectionProperties");
        if !it.connection_properties.contains_key(needed) {
            let said = format!("has no {needed}, which this warehouse needs for authentication");
            return Err(document.error(&path, said));
        }
        if it.connection_properties.contains_key(foreign) {
            let said = "is only for the other warehouse";
            return Err(document.error(&format!("{path}.{foreign}"), said));
        }
    }
    Ok(())
}

fn secret(
    document: &Document,
    fields: &Fields<'_>,
    environment: &NewEnvironment,
) -> Result<SecretPlan, DesiredError> {
    fields.known(&["agentId", "name", "type", "key", "valueFrom"])?;
    let (name, key) = (fields.required("name")?, fields.required("key")?);
    let used = environment
        .connection_overrides
        .iter()
        .flat_map(|it| it.connection_properties.values())
        .find(|property| property["secretName"] == name.as_str());
    let Some(used) = used else {
        let said = format!("no connection of the environment uses the secret {name:?}");
        return Err(fields.error("name", said));
    };
    if used.get("secretKey").is_some_and(|said| *said != key.as_str()) {
        let said = format!(
            "{key:?} is not the secretKey {} of the environment",
            used["secretKey"]
        );
        return Err(fields.error("key", said));
    }
    let Some(from) = fields.get("valueFrom") else {
        return Err(fields.error("valueFrom", "must be { variable: NAME } or { file: PATH }"));
    };
    let at = fields.path_of("valueFrom");
    let from = Fields::of(document, &at, from)?;
    from.known(&["variable", "file"])?;
    let source = match (from.text("variable")?, from.text("file")?) {
        (Some(name), None) => SecretSource::Variable(name),
        (None, Some(path)) => SecretSource::File(path.into()),
        _ => return Err(fields.error("valueFrom", "must be { variable: NAME } or { file: PATH }")),
    };
    let kind = fields.text("type")?;
    Ok(SecretPlan {
        agent_id: fields.uuid("agentId")?,
        name,
        r#type: kind.unwrap_or_else(|| "DWH_PASSWORD".to_owned()),
        key,
        source,
    })
}

fn repository(
    document: &Document,
    fields: &Fields<'_>,
    names: &KnownNames,
) -> Result<NewRepository, DesiredError> {
    fields.known(&["provider", "providerParameters", "repositoryName"])?;
    let provider = fields
        .text("provider")?
        .unwrap_or_else(|| names.git_provider.clone());
    if provider != names.git_provider {
        let said = format!(
            "{provider:?} is not {}, the only supported provider",
            names.git_provider
        );
        return Err(fields
            .error("provider", said)
            .with_hint("set the platform's name for the provider with --git-provider"));
    }
    let Some(parameters) = fields.get("providerParameters") else {
        return Err(fields.error("providerParameters", "must be { ownerName: … }"));
    };
    let at = fields.path_of("providerParameters");
    let parameters = Fields::of(document, &at, parameters)?;
    parameters.known(&["ownerName"])?;
    Ok(NewRepository {
        provider,
        owner_name: parameters.required("ownerName")?,
        repository_name: fields.required("repositoryName")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

    fn names() -> KnownNames {
        KnownNames {
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
        plan(&document, &names()).map_err(|error| error.to_string())
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
                    "password: { secretName: key }",
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
                    "environment.defaultAgentId: is a number and must be a string",
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
                    "no connection of the environment uses the secret \"pw\"",
                ),
                ("secretKey: k", "secretKey: l", "\"k\" is not the secretKey \"l\""),
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

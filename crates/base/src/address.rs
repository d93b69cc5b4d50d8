//! The address of the project: one value, `repository` in Cargo.toml. `docs/address` sets it, and a test compares all
//! pages with it.

/// URL of the repository.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Owner in the placeholder that is used until the project has an address.
const PLACEHOLDER_OWNER: &str = "/your-org/";

/// Returns the URL of this program's repository; `None` if the URL is empty or still has the placeholder, which must
/// not appear in users' documents.
pub fn repository_url() -> Option<&'static str> {
    Some(REPOSITORY).filter(|url| !url.is_empty() && !url.contains(PLACEHOLDER_OWNER))
}

/// Returns owner and name of this program's repository, for example `o/sluicegate`.
pub fn repository_full_name() -> &'static str {
    let path = REPOSITORY.split_once("://").map_or(REPOSITORY, |(_, path)| path);
    path.split_once('/').map_or(path, |(_, path)| path)
}

/// Returns the value of the header `User-Agent`: this program with its version, and the URL of its repository, if it
/// has one, so that a server's operator can find the authors.
pub fn user_agent() -> String {
    let address = repository_url().map(|url| format!(" (+{url})"));
    format!(
        "sluicegate/{}{}",
        env!("CARGO_PKG_VERSION"),
        address.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_one_of_repository_of_this_name() {
        assert!(REPOSITORY.starts_with("https://"), "{REPOSITORY}");
        assert!(repository_full_name().ends_with("/sluicegate"), "{REPOSITORY}");
        assert_eq!(repository_url().is_none(), REPOSITORY.contains(PLACEHOLDER_OWNER));
        assert_eq!(user_agent().contains(REPOSITORY), repository_url().is_some());
    }
}

//! The address of the project is one value: `repository` in Cargo.toml.

use super::{book, read_workspace_file};

/// The pages and files that contain the address.
const FILES: [&str; 9] = [
    "README.md",
    "SUPPORT.md",
    "CONTRIBUTING.md",
    ".github/ISSUE_TEMPLATE/config.yml",
    "docs/book/install.md",
    "docs/book/github.md",
    "docs/book/azure.md",
    "docs/book/recipes.md",
    "docs/book/reviewing.md",
];

fn address() -> &'static str {
    env!("CARGO_PKG_REPOSITORY")
}

fn owner_and_name() -> &'static str {
    address().splitn(4, '/').nth(3).unwrap()
}

#[test]
fn address_is_a_repository_of_this_name() {
    assert!(address().starts_with("https://"), "{}", address());
    assert!(owner_and_name().ends_with("/sluicegate"), "{}", address());
    assert!(read_workspace_file("README.md").contains(address()));
    assert!(read_workspace_file("Cargo.toml").contains(&format!("documentation = \"{}/", address())));
}

#[test]
fn every_page_has_the_address_of_cargo_toml() {
    let pages = FILES.map(|file| (file.to_owned(), read_workspace_file(file)));
    for (page, text) in pages.into_iter().chain(book::pages()) {
        // What stands before `/sluicegate` in a URL, an action or an image.
        for (index, _) in text.match_indices("/sluicegate") {
            let before = &text[..index];
            let owner = before
                .rsplit(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)))
                .next()
                .unwrap();
            let host = before.strip_suffix(owner).unwrap();
            let is_ours = ["github.com/", "ghcr.io/", "uses: ", "--repo ", "_actions/"]
                .iter()
                .any(|start| host.ends_with(start));
            if is_ours && !owner.is_empty() {
                assert_eq!(format!("{owner}/sluicegate"), owner_and_name(), "{page}");
            }
        }
    }
}

/// The repository has two packages with programs, this one and `fuzz`, and cargo takes neither without its name.
#[test]
fn command_that_builds_from_repository_names_package() {
    let pages = ["README.md", "docs/book/install.md"].map(read_workspace_file);
    let commands = pages.iter().flat_map(|page| page.split(['\n', '`']));
    let builds: Vec<&str> = commands
        .filter(|command| command.starts_with("cargo ") && command.contains(" --git "))
        .collect();
    assert_eq!(builds.len(), 2, "{builds:?}");
    for line in builds {
        assert!(line.ends_with(" sluicegate"), "{line}");
    }
}

//! A `sluicegate.yaml` in the current directory that is not at the root of the repository.

use crate::support::{Call, project};

#[test]
fn configuration_file_below_the_root_is_named_as_not_read() {
    let world = project();
    world.write("part/sluicegate.yaml", "retries: 4\n");
    world.write("part/deep/notes.txt", "");
    world.commit("part");
    let part = Call::new(&world.work().join("part"));
    let deep = Call::new(&world.work().join("part/deep"));
    let warning = "part/sluicegate.yaml is not read";
    for command in ["check --all", "context", "settings retries", "doctor"] {
        for (call, path) in [(&part, "sluicegate.yaml"), (&deep, "../sluicegate.yaml")] {
            let hint = format!("pass --config {path} to use it");
            let output = call.run(command).expect(0).all();
            assert!(output.contains(warning) && output.contains(&hint), "{output}");
        }
        let named = part.run(("--config sluicegate.yaml", command)).expect(0);
        assert!(!named.all().contains("is not read"), "{}", named.all());
        let root = Call::new(&world.work()).run(command).expect(0);
        assert!(!root.all().contains("is not read"), "{}", root.all());
    }
    let settings = part.run("settings retries").expect(0);
    assert!(
        settings
            .out
            .contains("Configuration file: none: the checkout has no sluicegate.yaml"),
        "{}",
        settings.out
    );
    let named = part.run("--config sluicegate.yaml settings retries").expect(0);
    assert!(
        named
            .out
            .contains("Configuration file: part/sluicegate.yaml of the checkout"),
        "{}",
        named.out
    );
}

//! The rules of the API document, each with the tests that cover it. The tests name their endpoints themselves.
//!
//! A row contains its subject, then the tests of the client against the fixtures (`crates/platform/tests/api`), those
//! of the local platform (`crates/local-platform/tests/service`) and those of the command against the local platform
//! (`tests/it`). A test is identified by its module and the start of its name; several are separated by a space.

/// The subject, and the tests of client, local platform and command.
pub type Row = (&'static str, &'static str, &'static str, &'static str);

/// Every rule and transition, in the order of the document's sections.
pub const RULES: [Row; 52] = [
    (
        "Every request carries a bearer token",
        "tokens::response_401_gets_one_new_token tokens::second_401_is_final errors::each_status",
        "access::unknown_callers",
        "local_platform::access::every_request",
    ),
    (
        "Artifact endpoints need the role Admin or Super Admin: 403",
        "errors::hint_of_403_names_role",
        "access::shared_pipelines_are_for_admins",
        "local_platform::access::artifacts_need_an_admin serve::server_process::roles_are_kept",
    ),
    (
        "The audit log needs the role Super Admin: 403",
        "events::list_that_is_forbidden",
        "events::get_events_is_for_super_admins",
        "local_platform::events::export_needs_the_super_admin",
    ),
    (
        "A new project is visible to Super Admins only",
        "projects::projects_that_are_hidden",
        "projects::post_projects_makes_one_that_only projects::made_project_is_hidden_from_the_other_roles_everywhere",
        "local_platform::access::new_project_is_hidden_from_the_other_roles",
    ),
    (
        "Lists come in pages: results, page, size, total",
        "variables::list_goes_to_the_last_page resources::shared_pipelines_are_read_to_the_last_page \
         tasks::list_without_filters",
        "access::paging_outside projects::get_projects_pages",
        "local_platform::access::lists_are_read",
    ),
    (
        "Provisioning: the steps in their order",
        "projects::projects_create_is projects::connections_create projects::secrets_create_is \
         projects::environments_create projects::repositories_create",
        "projects::post_environments_makes",
        "local_platform::provision::apply_makes local_platform::provision::apply_goes_on platform_api::provision::apply_goes_through",
    ),
    (
        "Provisioning: an environment's connection is one of the project",
        "projects::environments_create_that_is_refused",
        "projects::post_environments_refuses",
        "local_platform::projects::environments_create_needs local_platform::provision::apply_checks",
    ),
    (
        "Provisioning: key pair with one warehouse, password with the other",
        "projects::connections_create",
        "projects::post_connections_takes projects::post_environments_takes",
        "local_platform::projects::connections_create local_platform::provision::apply_checks",
    ),
    (
        "Provisioning: a secret's value has the one property that its key names",
        "projects::secrets_create_is",
        "projects::post_secrets_takes",
        "local_platform::projects::secrets_create local_platform::provision::apply_makes_a_full_saas",
    ),
    (
        "Provisioning: repositories of one provider, not for full SaaS",
        "projects::repositories_create",
        "projects::post_repositories_is",
        "local_platform::projects::repositories_create local_platform::provision::apply_checks",
    ),
    (
        "Streaming: 400 with `validation-errors`, a field and a rule each",
        "streaming::create_with_an_invalid",
        "streaming::post_streaming_pipelines_refuses streaming::post_streaming_pipelines_finds",
        "local_platform::streaming::create_that_is_refused",
    ),
    (
        "Streaming: a received command is not yet the state: starting, then streaming",
        "streaming::start_and_stop streaming::status",
        "streaming::post_commands_start_and_stop durability::started_stream_is_started_again_and_stopped_one_is_not",
        "local_platform::streaming::start_and_stop local_platform::streaming::status",
    ),
    (
        "Streaming: secrets are references to what the agent can read",
        "streaming::create_is_sent",
        "streaming::post_streaming_pipelines_finds",
        "local_platform::streaming::create_stores platform_api::streaming::create_never_sends_a_secret",
    ),
    (
        "Artifact version: prefix and version name are unique: 409",
        "upload::version_that_exists_is_a_conflict_and_is_sent_once",
        "publish::version_is_published_once publish::of_clients_that_race",
        "local_platform::artifacts::publish_of_existing_version",
    ),
    (
        "Artifact version: (none) → version exists, enabled",
        "upload::headers_are_documents",
        "publish::version_is_shown_as_it_was_published",
        "local_platform::artifacts::publish_shows_up",
    ),
    (
        "Artifact version: enabled → disabled; \\[Latest\\] falls back",
        "resources::version_is_enabled_as_documented",
        "artifacts::latest_is artifacts::without_an_enabled",
        "local_platform::artifacts::disable ci::publish_after_review::versions_are_taken_back",
    ),
    (
        "Artifact version: disabled → enabled; \\[Latest\\] can select it",
        "resources::version_is_enabled_as_documented",
        "artifacts::latest_is",
        "local_platform::artifacts::disable",
    ),
    (
        "Artifact version: details of a name that does not exist, also `latest`: 404",
        "resources::details_of_a_version",
        "artifacts::names_that_do_not_exist",
        "local_platform::artifacts::show",
    ),
    (
        "Publish: one part for each file, named by its path",
        "upload::names_and_contents",
        "publish::names_that_leave publish::names_come_in",
        "publish::command_outcomes::every_file_is_sent_once",
    ),
    (
        "Publish: `ignoredResources` may make an artifact incomplete",
        "upload::ignored_resources upload::answer_without_ignored_resources_leaves_them_unknown",
        "publish::publish_leaves_out_and_lists_foreign_files",
        "local_platform::artifacts::publish_with_ignored",
    ),
    (
        "Agent task: (none) → RUNNING",
        "tasks::create_is_sent",
        "tasks::post_tasks_begins",
        "local_platform::tasks::stop_ends_a_task_that_runs",
    ),
    (
        "Agent task: STOPPED is finished, or waits for a decision",
        "tasks::show_distinguishes_both",
        "tasks::get_task_shows tasks::post_tasks_stops",
        "local_platform::tasks::create_waits platform_api::tasks::list_distinguishes_both",
    ),
    (
        "Agent task: RUNNING → STOPPED with nothing pending: finished",
        "tasks::show_distinguishes_both",
        "tasks::post_tasks_begins",
        "local_platform::tasks::create_with_everything_granted",
    ),
    (
        "Agent task: RUNNING → STOPPED with pending decisions",
        "tasks::show_distinguishes_both tasks::show_is_read",
        "tasks::post_tasks_stops",
        "local_platform::tasks::create_waits local_platform::tasks::create_prints",
    ),
    (
        "Agent task: RUNNING → STOPPING → STOPPED after a stop",
        "tasks::stop",
        "tasks::post_stop",
        "local_platform::tasks::stop",
    ),
    (
        "Agent task: RUNNING → ERRORED, details in the messages",
        "tasks::show_of_a_failed_task",
        "tasks::post_tasks_on_a_branch_that_is_not_there",
        "local_platform::tasks::create_that_ends_in_an_error",
    ),
    (
        "Agent task: STOPPED resumes after decisions",
        "tasks::decide",
        "tasks::post_tasks_stops tasks::post_decisions_for_what_is_not_pending",
        "local_platform::tasks::create_waits local_platform::tasks::decide",
    ),
    (
        "Agent task: a question is answered by options",
        "tasks::decide",
        "tasks::post_decisions_answers_a_question",
        "local_platform::tasks::decide_answers_a_question",
    ),
    (
        "Agent task: the scope CONVERSATION approves for the rest of the task",
        "tasks::decide",
        "tasks::post_tasks_stops",
        "local_platform::tasks::decide_for_the_conversation",
    ),
    (
        "Agent task: STOPPED resumes after a follow-up; mode and branch can change",
        "tasks::send",
        "tasks::post_messages_resumes",
        "local_platform::tasks::send_lets",
    ),
    (
        "Agent task: STOPPED is deleted with all its data",
        "tasks::delete",
        "tasks::delete_tasks",
        "local_platform::tasks::delete_is_refused",
    ),
    (
        "Agent task: RUNNING is not deleted: 409",
        "tasks::delete",
        "tasks::delete_tasks_refuses",
        "local_platform::tasks::delete_is_refused",
    ),
    (
        "Agent task: `targetBranchName` or `generateBranch`",
        "tasks::create_is_sent",
        "tasks::post_tasks_needs_a_branch",
        "local_platform::tasks::create_needs_the_name_of_a_branch",
    ),
    (
        "Agent task: PLAN makes no changes",
        "tasks::create_is_sent",
        "tasks::post_tasks_in_plan_mode",
        "local_platform::tasks::create_for_a_plan",
    ),
    (
        "Agent task: permissions are replaced as a whole; an empty list clears them",
        "tasks::permissions",
        "tasks::put_permissions",
        "local_platform::tasks::permissions",
    ),
    (
        "Agent task list: filters; size 1 to 100, by default 20",
        "tasks::list",
        "tasks::get_tasks_lists access::paging_outside",
        "local_platform::tasks::list",
    ),
    (
        "Agent task messages: limit by default 25, at most 1000; `more` goes on",
        "tasks::messages",
        "tasks::get_messages",
        "local_platform::tasks::messages",
    ),
    (
        "Variable: an update needs type and behaviour",
        "variables::update",
        "variables::patch_of_variable_needs",
        "local_platform::variables::update",
    ),
    (
        "Variable: a value fits its type",
        "variables::create_is_sent variables::list_keeps",
        "variables::post_variables_refuses_values overrides::patch_variables_keeps",
        "local_platform::variables::create_of_a_value",
    ),
    (
        "Variable: its overrides go with it",
        "variables::delete",
        "overrides::delete_variables",
        "local_platform::variables::delete",
    ),
    (
        "Override: made where there is none, else changed",
        "variables::overrides_set",
        "overrides::post_overrides_makes",
        "local_platform::variables::overrides_set_makes",
    ),
    (
        "Override: each that cannot be applied is in `failedOverrides`",
        "variables::overrides_set",
        "overrides::post_overrides_reports overrides::post_overrides_needs",
        "local_platform::variables::overrides_set_names",
    ),
    (
        "Execution: only a published pipeline can be run",
        "executions::start_of_what_is_not_published",
        "executions::post_executions_needs executions::get_published",
        "local_platform::pipelines::run_needs",
    ),
    (
        "Execution: one at a time for a tag: 409",
        "executions::start_with_a_running_tag",
        "executions::post_executions_refuses executions::post_executions_lets",
        "local_platform::pipelines::run_holds_its_tag",
    ),
    (
        "Execution: RUNNING is cancelled by a termination",
        "executions::cancel",
        "executions::patch_executions",
        "local_platform::pipelines::run_holds_its_tag local_platform::pipelines::run_that_is_interrupted",
    ),
    (
        "Review: only rules of error enforcement fail it",
        "resources::review_is_sent_and_read_as_documented",
        "reviews::only_error_enforcement",
        "local_platform::reviews::only_error_enforcement",
    ),
    (
        "Review: ERROR carries the type of what went wrong",
        "resources::review_is_sent_and_read_as_documented",
        "reviews::evaluation_errors reviews::without_a_usable",
        "local_platform::reviews::rule_that_cannot_be_evaluated_is_an_error_with_its_type rules::invalid_rules_files::",
    ),
    (
        "Review: files of other types are in `excludedFiles`",
        "resources::review_is_sent_and_read_as_documented",
        "reviews::review_has_what_api_document_names",
        "local_platform::reviews::files_of_other_types",
    ),
    (
        "Review: the files are in the branch and commit on the remote",
        "resources::review_of_what_is_not_there_is_not_found",
        "reviews::commit_must_be_full_id_in_real_branch reviews::paths_that_are_not",
        "local_platform::reviews::commit_must_be_on_remote",
    ),
    (
        "Review: the header `Agent-Version`",
        "resources::review_is_sent_and_read_as_documented resources::agent_version_that_no_header_can_carry_is_not_sent",
        "reviews::header_and_body",
        "local_platform::reviews::agent_version_is_needed",
    ),
    (
        "Audit log: the last 90 days, from and to with an offset, size 1 to 100",
        "events::list_of_a_window",
        "events::get_events_reaches events::get_events_takes access::paging_outside",
        "local_platform::events::export_takes_a_window",
    ),
    (
        "Audit log: an event for each change, with all its fields",
        "events::list_is_read",
        "events::get_events_has",
        "local_platform::events::export_has_an_event",
    ),
];

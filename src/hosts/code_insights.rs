//! Bitbucket's Code Insights.
//!
//! <https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/>. In a pipeline, requests for
//! `http://api.bitbucket.org` go through a proxy that adds the credentials
//! (<https://support.atlassian.com/bitbucket-cloud/docs/code-insights/#Authentication>).

use super::MissingResult;
use serde_json::Value;
use sluicegate_platform::http::{ErrorKind, HostClient, HttpError, Method, Repeat, Request};

#[derive(Debug, Clone, Copy)]
pub(crate) struct CodeInsights<'a> {
    pub workspace: &'a str,
    pub repository: &'a str,
    pub commit: &'a str,
    /// Report id, chosen by this program.
    pub report_id: &'a str,
}

impl CodeInsights<'_> {
    /// Replaces the report of an earlier run with this report and its annotations, and returns whether the report was
    /// sent. An error about a permission gets a hint.
    pub(crate) async fn send_report(
        self,
        client: &HostClient,
        report: &Value,
        annotation_batches: &[Value],
        on_missing: MissingResult,
    ) -> Result<bool, HttpError> {
        self.replace_report(client, report, annotation_batches, on_missing)
            .await
            .map_err(|error| {
                if !error.kind().is_denied() {
                    return error;
                }
                error.with_hint(
                    "Bitbucket's proxy adds the credentials of the pipeline: run this step in a pipeline of the \
                     repository itself",
                )
            })
    }

    /// Deletes the report of an earlier run if there is one, and sends the new report and each batch of its
    /// annotations. The report is deleted because the later requests only add annotations and do not remove old ones.
    /// Returns false if there was no report and none was sent.
    async fn replace_report(
        self,
        client: &HostClient,
        report: &Value,
        annotation_batches: &[Value],
        on_missing: MissingResult,
    ) -> Result<bool, HttpError> {
        let path = [
            "2.0",
            "repositories",
            self.workspace,
            self.repository,
            "commit",
            self.commit,
            "reports",
            self.report_id,
        ];
        let url = client.url(&path)?;
        let delete_request = Request::new(Method::DELETE, url.clone(), Repeat::Safe);
        match client.send(&delete_request).await {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) if on_missing == MissingResult::Omission => return Ok(false),
            _ => {}
        }
        client
            .send(&Request::new(Method::PUT, url, Repeat::Safe).json(report))
            .await?;
        let annotations_url = client.url(&[&path[..], &["annotations"]].concat())?;
        for batch in annotation_batches {
            // Each annotation has its own id, so a repeated batch replaces itself.
            let request = Request::new(Method::POST, annotations_url.clone(), Repeat::Safe).json(batch);
            client.send(&request).await?;
        }
        Ok(true)
    }
}

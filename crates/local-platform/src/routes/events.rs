//! The audit log (API document, "Audit logs").

use super::Resource;
use crate::app::App;
use crate::auth::SuperAdmin;
use crate::body_check::BodyCheck;
use crate::clock::Moment;
use crate::page::{Page, PagedList, Query};
use crate::problem::{Problem, ProblemBody};
use crate::store::events::{self, AuditEvent};
use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource {
    routes,
    shapes: |_| Vec::new(),
};

/// Returns the HTTP routes for audit events.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list_events))
}

/// Lists the audit events of the last 90 days, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/events",
    operation_id = "listEvents",
    tag = "Audit logs",
    params(
        ("from" = Option<String>, Query, format = DateTime, description = "Return only events from this \
             time on; the time needs an offset from UTC."),
        ("to" = Option<String>, Query, format = DateTime, description = "Return only events up to this \
             time; the time needs an offset from UTC."),
        Page,
    ),
    responses(
        (status = 200, body = PagedList<AuditEvent>, description = "A page of events."),
        (status = 403, body = ProblemBody, description = "The role is not Super Admin."),
    )
)]
async fn list_events(
    _: SuperAdmin,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<AuditEvent>>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::from_query(&query, &mut check);
    // Event times are whole milliseconds, so `first` and `last` are the outermost whole milliseconds in the range.
    let first = parse_time(&query, "from", &mut check).map(Moment::round_up);
    let last = parse_time(&query, "to", &mut check).map(Moment::round_down);
    let (first, last) = check.into_result((first, last))?;
    // Older events cannot be requested, even if the store still has them.
    let oldest = app.clock().now().minus(events::RETENTION);
    let first = first.map_or(oldest, |from| from.max(oldest));
    let (events, total) = app
        .store()
        .query(move |connection| events::list_events(connection, first, last, page))
        .await?;
    Ok(Json(PagedList::new(page, events, total)))
}

/// Parses the time with offset in the query parameter `name`. Returns `None` if the parameter is missing, and records
/// an error if it is invalid. Accepts a space for the plus sign, which clients often forget to percent-encode.
fn parse_time(query: &Query, name: &str, check: &mut BodyCheck) -> Option<Timestamp> {
    let text = query.find_value(name)?;
    let time = text.parse().ok().or_else(|| {
        let (time, offset) = text.rsplit_once(' ')?;
        format!("{time}+{offset}").parse().ok()
    });
    if time.is_none() {
        check.add_error(
            name,
            "must be a time in ISO 8601 with an offset, such as 2026-11-20T09:30:00Z",
        );
    }
    time
}

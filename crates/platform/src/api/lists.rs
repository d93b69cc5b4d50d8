//! Lists of any shape, a bare array or an envelope with `results` and paging, read to the last page.
//!
//! A list that may be incomplete is an error, never a shorter list.

use super::Platform;
use crate::http::{HttpError, Request, Response, Url};
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The largest page size that the API document allows for any endpoint.
const PAGE_SIZE: usize = 100;

/// Maximum number of pages that are read.
const MAX_PAGES: usize = 1_000;

/// Possible names of an envelope's array.
const ENTRY_FIELDS: [&str; 7] = [
    "results",
    "artifacts",
    "items",
    "tasks",
    "content",
    "data",
    "versions",
];

/// Possible names of the total number of entries.
const TOTAL_FIELDS: [&str; 3] = ["total", "totalElements", "totalItems"];

/// Fields that mark an envelope as a page, even if it contains no size.
const PAGE_NUMBER_FIELDS: [&str; 2] = ["page", "number"];

/// Whether the first request already has paging parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paging {
    /// The API document defines `page` and `size` for this endpoint.
    Always,
    /// The API document defines no paging: the parameters are sent only if the response is a page.
    IfPaged,
}

#[derive(Debug, PartialEq)]
struct ListPage {
    /// Name of the field with the entries, for errors.
    entries_field: &'static str,
    entries: Vec<Value>,
    /// Not a natural number only if the server is wrong.
    total: Option<i128>,
    /// Page size, if the response contains it.
    size: Option<usize>,
    /// Whether the response has a page number.
    has_page_number: bool,
}

impl ListPage {
    /// Parses a page: a bare array, or an envelope. Returns `None` if no expected field of the envelope contains an
    /// array, or if several do, because it is unknown then which array has the entries.
    fn parse(response: Value) -> Option<Self> {
        let mut fields = match response {
            Value::Array(entries) => {
                return Some(Self {
                    entries_field: "",
                    entries,
                    total: None,
                    size: None,
                    has_page_number: false,
                });
            }
            Value::Object(fields) => fields,
            _ => return None,
        };
        let mut arrays = ENTRY_FIELDS
            .into_iter()
            .filter(|name| fields.get(*name).is_some_and(Value::is_array));
        // The second call to `next` must find no further array.
        let (Some(entries_field), None) = (arrays.next(), arrays.next()) else {
            return None;
        };
        let find_number = |name| usize::try_from(fields.get(name)?.as_u64()?).ok();
        let total = TOTAL_FIELDS
            .into_iter()
            .find_map(|name| to_integer(fields.get(name)?));
        let size = find_number("size").filter(|size| *size > 0);
        let has_page_number = PAGE_NUMBER_FIELDS
            .into_iter()
            .any(|name| find_number(name).is_some());
        let Some(Value::Array(entries)) = fields.remove(entries_field) else {
            return None;
        };
        Some(Self {
            entries_field,
            entries,
            total,
            size,
            has_page_number,
        })
    }

    /// Returns whether another page must be requested, after `earlier_count` entries of earlier pages; `requested_size`
    /// is the requested page size. If no total and no page size is known, a page number in the response means that
    /// there may be another page.
    fn has_next_page(&self, earlier_count: usize, requested_size: Option<usize>) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        match (self.total, self.size.or(requested_size)) {
            (Some(total), _) => to_signed(earlier_count + self.entries.len()) < total,
            (None, Some(size)) => self.entries.len() >= size,
            (None, None) => self.has_page_number,
        }
    }

    /// Returns whether a page number is the only sign that there may be another page.
    const fn has_only_page_number(&self) -> bool {
        self.has_page_number && self.total.is_none() && self.size.is_none()
    }
}

impl Platform {
    /// Requests all pages of a list and returns the entries, each converted by `convert`, which receives the entry's
    /// path in its page for errors. `paging` states whether the first request already has paging parameters. Fails if
    /// a page repeats an earlier one, if the list does not have as many entries as it states, or if it has more than
    /// [`MAX_PAGES`] pages.
    pub(super) async fn fetch_list<T>(
        &self,
        url: Url,
        paging: Paging,
        convert: impl Fn(Value, &str, &Response) -> Result<T, HttpError>,
    ) -> Result<Vec<T>, HttpError> {
        let mut entries = Vec::new();
        let mut page_size = (paging == Paging::Always).then_some(PAGE_SIZE);
        let mut total_memory = 0;
        let mut earlier_hashes = HashSet::new();
        let mut previous_hash = None;
        for page_number in 0..MAX_PAGES {
            let response = self
                .client
                .send(&build_page_request(&url, page_number, page_size))
                .await?;
            total_memory = response.check_memory(total_memory)?;
            let page = ListPage::parse(response.json()?)
                .ok_or_else(|| response.unusable_error("the response does not contain a list"))?;
            let page_hash = hash_entries(&page.entries);
            let is_repeated = !page.entries.is_empty() && !earlier_hashes.insert(page_hash);
            let repeats_previous_page = previous_hash.replace(page_hash) == Some(page_hash);
            // An endpoint without paging returns its complete list each time, although it looks like a page. The list
            // is then complete after its first page, the page 0.
            let is_unpaged = is_repeated && page_number == 1 && page.has_only_page_number();
            if is_unpaged {
                return Ok(entries);
            }
            if is_repeated {
                let earlier_page = if repeats_previous_page {
                    "the previous page"
                } else {
                    "an earlier page"
                };
                return Err(response.unusable_error(&format!("page {page_number} repeats {earlier_page}")));
            }
            let has_next_page = page.has_next_page(entries.len(), page_size);
            // The first page determines the size of the next ones, unless a size was requested.
            page_size = page_size.or(page.size).or(Some(page.entries.len()));
            let total = page.total;
            for (index, entry) in page.entries.into_iter().enumerate() {
                entries.push(convert(
                    entry,
                    &format!("{}[{index}]", page.entries_field),
                    &response,
                )?);
            }
            if !has_next_page {
                reject_different_count(total, entries.len(), &response)?;
                return Ok(entries);
            }
            if page_number + 1 == MAX_PAGES {
                return Err(response.unusable_error(&format!("the list has more than {MAX_PAGES} pages")));
            }
        }
        // Never reached, because the loop returns at its last page.
        Ok(entries)
    }
}

/// Returns the value if it is an integer, of which a wrong server may send a negative one.
fn to_integer(value: &Value) -> Option<i128> {
    let natural = value.as_u64().map(i128::from);
    natural.or_else(|| value.as_i64().map(i128::from))
}

/// Converts a number of entries for the comparison with a total, which may be negative.
fn to_signed(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

/// Returns an error if the response states another total number of entries than `count`.
fn reject_different_count(total: Option<i128>, count: usize, response: &Response) -> Result<(), HttpError> {
    match total {
        Some(total) if total != to_signed(count) => {
            Err(response.unusable_error(&format!("the list announces {total} entries but has {count}")))
        }
        _ => Ok(()),
    }
}

/// Returns a hash of the entries, by which a repeated page is recognized.
fn hash_entries(entries: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in entries {
        entry.hash(&mut hasher);
    }
    hasher.finish()
}

/// Creates the request for page `number` with `size` entries. Without a size, the request has no paging parameters.
fn build_page_request(url: &Url, number: usize, size: Option<usize>) -> Request {
    let request = Request::get(url.clone());
    match size {
        Some(size) => request
            .query("page", &number.to_string())
            .query("size", &size.to_string()),
        None => request,
    }
}

#[cfg(test)]
mod tests {
    use super::ListPage;
    use serde_json::json;

    #[test]
    fn array_is_found_in_any_envelope() {
        for (answer, place) in [
            (json!([1, 2]), ""),
            (json!({ "results": [1, 2], "page": 0 }), "results"),
            (json!({ "page": 0, "artifacts": [1, 2] }), "artifacts"),
            (json!({ "items": [1, 2] }), "items"),
        ] {
            let page = ListPage::parse(answer).unwrap();
            assert_eq!(
                (page.entries_field, page.entries),
                (place, vec![json!(1), json!(2)])
            );
        }
        assert_eq!(ListPage::parse(json!({ "results": null })), None);
        assert_eq!(ListPage::parse(json!("text")), None);
        let sizes = [json!(2), json!(0), json!(-1)];
        let sizes = sizes.map(|size| {
            ListPage::parse(json!({ "results": [1], "size": size }))
                .unwrap()
                .size
        });
        assert_eq!(sizes, [Some(2), None, None]);
        assert_eq!(ListPage::parse(json!({ "results": [], "artifacts": [{}] })), None);
    }

    #[test]
    fn end_is_told_by_what_page_says() {
        let followed = |answer, before, asked| ListPage::parse(answer).unwrap().has_next_page(before, asked);
        assert!(followed(json!({ "results": [1, 2], "total": 3 }), 0, None));
        assert!(!followed(json!({ "results": [3], "total": 3 }), 2, None));
        assert!(!followed(json!({ "results": [], "total": 3 }), 2, None));
        assert!(followed(json!({ "results": [1, 2], "size": 2 }), 0, Some(100)));
        assert!(!followed(json!({ "results": [1], "size": 2 }), 0, Some(100)));
        assert!(!followed(json!([1, 2]), 0, None));
        assert!(followed(json!({ "results": [1, 2], "page": 0 }), 0, None));
        assert!(followed(
            json!({ "content": [1], "number": 0, "totalElements": 2 }),
            0,
            None
        ));
        assert!(!followed(
            json!({ "content": [2], "number": 1, "totalElements": 2 }),
            1,
            None
        ));
        assert!(!followed(json!({ "results": [], "page": 9 }), 4, None));
    }
}

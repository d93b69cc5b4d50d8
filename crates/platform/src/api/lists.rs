//! Lists of any shape, a bare array or an envelope with `results` and paging, read to the last page.
//!
//! A list that may be incomplete is an error, never a shorter list.

use super::Platform;
use crate::http::{HttpError, Request, Response, Url};
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// The largest page size that the API document allows for any endpoint.
const PAGE_SIZE: usize = 100;

/// Maximum number of pages that are read.
const MAX_PAGES: usize = 1_000;

/// Maximum number of times that all pages are read, if the list changes meanwhile.
const MAX_PASSES: usize = 4;

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
    /// is the requested page size. If no total and no page size is known, the list ends at an empty page: the platform
    /// may send smaller pages than requested.
    fn has_next_page(&self, earlier_count: usize, requested_size: Option<usize>) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        match (self.total, self.size) {
            (Some(total), _) => to_signed(earlier_count + self.entries.len()) < total,
            (None, Some(size)) => self.entries.len() >= size,
            (None, None) => requested_size.is_some() || self.has_page_number,
        }
    }

    /// Returns whether this may be a complete list although it looks like a page: it has no total and no page size,
    /// and it has a page number or fewer entries than a full page.
    const fn may_be_unpaged(&self) -> bool {
        let has_size = self.total.is_some() || self.size.is_some();
        !has_size && (self.has_page_number || self.entries.len() < PAGE_SIZE)
    }
}

/// The result of reading all pages once.
enum ListPass<T> {
    Complete(Vec<T>),
    /// The list changed between two pages, so entries may be missing.
    Changed(HttpError),
    /// A page contains an entry of an earlier page: the list changed, or it has equal entries. In the second case,
    /// another pass has the same pages, so the same `pages_hash`.
    Repetitive {
        entries: Vec<T>,
        pages_hash: u64,
        error: HttpError,
    },
}

impl<T> ListPass<T> {
    /// Creates the result of a pass over all pages. `repetition_error` says which page repeated an entry.
    fn new(entries: Vec<T>, pages_hash: u64, repetition_error: Option<HttpError>) -> Self {
        match repetition_error {
            Some(error) => Self::Repetitive {
                entries,
                pages_hash,
                error,
            },
            None => Self::Complete(entries),
        }
    }
}

impl Platform {
    /// Requests all pages of a list and returns the entries, each converted by `convert`, which receives the entry's
    /// path in its page for errors. `paging` states whether the first request already has paging parameters. A list
    /// that changes between two pages is read again. Fails if it changes [`MAX_PASSES`] times, if a page repeats an
    /// earlier one, if the list does not have as many entries as it states, or if it has more than [`MAX_PAGES`] pages.
    pub(super) async fn fetch_list<T>(
        &self,
        url: Url,
        paging: Paging,
        convert: impl Fn(Value, &str, &Response) -> Result<T, HttpError>,
    ) -> Result<Vec<T>, HttpError> {
        let (mut pass_count, mut earlier_hash) = (0, None);
        loop {
            pass_count += 1;
            let error = match self.read_pages(&url, paging, &convert).await? {
                ListPass::Complete(entries) => return Ok(entries),
                ListPass::Repetitive {
                    entries,
                    pages_hash,
                    error,
                } => {
                    if earlier_hash.replace(pages_hash) == Some(pages_hash) {
                        return Ok(entries);
                    }
                    error
                }
                ListPass::Changed(error) => error,
            };
            if pass_count == MAX_PASSES {
                return Err(error.with_hint("run the command again when nothing else changes the list"));
            }
        }
    }

    /// Requests all pages of a list once, see [`Self::fetch_list`].
    async fn read_pages<T>(
        &self,
        url: &Url,
        paging: Paging,
        convert: &impl Fn(Value, &str, &Response) -> Result<T, HttpError>,
    ) -> Result<ListPass<T>, HttpError> {
        let mut entries = Vec::new();
        let mut page_size = (paging == Paging::Always).then_some(PAGE_SIZE);
        let (mut page_number, mut total_memory) = (0, 0);
        let mut first_total = None;
        let mut earlier_pages = EarlierPages::default();
        let (mut may_be_complete, mut repetition_error) = (false, None);
        loop {
            let request = build_page_request(url, page_number, page_size);
            let response = match self.client.send(&request).await {
                // An endpoint without paging may refuse the page after its complete list.
                Err(error) if may_be_complete && matches!(error.status(), Some(400 | 404)) => {
                    return Ok(ListPass::Complete(entries));
                }
                result => result?,
            };
            total_memory = response.check_memory(total_memory)?;
            let page = ListPage::parse(response.json()?)
                .ok_or_else(|| response.unusable_error("the response does not contain a list"))?;
            let repetition = earlier_pages.add_page(&page.entries);
            if let Some(repeated_page) = repetition.page_name() {
                // An endpoint without paging returns its complete list each time. The list is then complete after its
                // first page, the page 0.
                if page_number == 1 && page.may_be_unpaged() {
                    return Ok(ListPass::Complete(entries));
                }
                let reason = format!("page {page_number} repeats {repeated_page}");
                return Err(inconsistent_list_error(&response, &reason));
            }
            first_total = first_total.or(page.total);
            if let Some(change) = describe_change(page.total, first_total, repetition) {
                let error = response.unusable_error(&format!(
                    "the list keeps changing: it was read {MAX_PASSES} times, and the last time, page {page_number} {change}"
                ));
                if page.total != first_total {
                    return Ok(ListPass::Changed(error));
                }
                repetition_error = Some(error);
            }
            may_be_complete = page_number == 0 && page.may_be_unpaged();
            let has_next_page = page.has_next_page(entries.len(), page_size);
            // The first page determines the size of the next ones, unless a size was requested.
            page_size = page_size.or(page.size).or(Some(page.entries.len()));
            for (index, entry) in page.entries.into_iter().enumerate() {
                entries.push(convert(
                    entry,
                    &format!("{}[{index}]", page.entries_field),
                    &response,
                )?);
            }
            if !has_next_page {
                reject_different_count(page.total, entries.len(), &response)?;
                return Ok(ListPass::new(
                    entries,
                    earlier_pages.sequence_hash,
                    repetition_error,
                ));
            }
            page_number += 1;
            if page_number == MAX_PAGES {
                return Err(response.unusable_error(&format!("the list has more than {MAX_PAGES} pages")));
            }
        }
    }
}

/// The pages that were read so far, as hashes.
#[derive(Default)]
struct EarlierPages {
    entries: HashSet<u64>,
    pages: HashSet<u64>,
    last_page: Option<u64>,
    /// Hash of all pages in order.
    sequence_hash: u64,
}

/// The facts that a page repeats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repetition {
    None,
    /// At least one entry of an earlier page.
    Entry,
    PreviousPage,
    EarlierPage,
}

impl Repetition {
    /// Returns the name of the page that is completely repeated.
    const fn page_name(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Entry => None,
            Self::PreviousPage => Some("the previous page"),
            Self::EarlierPage => Some("an earlier page"),
        }
    }
}

impl EarlierPages {
    /// Adds the next page, and returns what it repeats. Equal entries on one page are no repetition.
    fn add_page(&mut self, entries: &[Value]) -> Repetition {
        let page_hash = hash(entries);
        let previous_page = self.last_page.replace(page_hash);
        self.sequence_hash = hash((self.sequence_hash, page_hash));
        let entry_hashes: Vec<u64> = entries.iter().map(hash).collect();
        let repeats_entry = entry_hashes.iter().any(|hash| self.entries.contains(hash));
        self.entries.extend(entry_hashes);
        if !self.pages.insert(page_hash) && !entries.is_empty() {
            if previous_page == Some(page_hash) {
                return Repetition::PreviousPage;
            }
            return Repetition::EarlierPage;
        }
        if repeats_entry {
            return Repetition::Entry;
        }
        Repetition::None
    }
}

/// Describes the sign that the list changed since its first page, if there is one.
fn describe_change(total: Option<i128>, first_total: Option<i128>, repetition: Repetition) -> Option<String> {
    match (total, first_total) {
        (Some(total), Some(first_total)) if total != first_total => {
            Some(format!("announced {total} entries instead of {first_total}"))
        }
        _ if repetition == Repetition::Entry => Some("repeated an entry of an earlier page".to_owned()),
        _ => None,
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

/// Creates the error for a list whose pages contradict each other. The base URL is right, because there is a list.
fn inconsistent_list_error(response: &Response, reason: &str) -> HttpError {
    response.unusable_error(reason).with_hint(
        "run the command again; if the list is still inconsistent, report this to the platform's operators",
    )
}

/// Returns an error if the response states another total number of entries than `count`.
fn reject_different_count(total: Option<i128>, count: usize, response: &Response) -> Result<(), HttpError> {
    match total {
        Some(total) if total != to_signed(count) => {
            let reason = format!("the list announces {total} entries but has {count}");
            Err(inconsistent_list_error(response, &reason))
        }
        _ => Ok(()),
    }
}

/// Returns a hash by which a repeated entry or page is recognized.
fn hash(content: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
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
    fn last_page_is_recognized_by_its_numbers() {
        let followed = |answer, before, asked| ListPage::parse(answer).unwrap().has_next_page(before, asked);
        assert!(followed(json!({ "results": [1, 2], "total": 3 }), 0, None));
        assert!(!followed(json!({ "results": [3], "total": 3 }), 2, None));
        assert!(!followed(json!({ "results": [], "total": 3 }), 2, None));
        assert!(followed(json!({ "results": [1, 2], "size": 2 }), 0, Some(100)));
        assert!(!followed(json!({ "results": [1], "size": 2 }), 0, Some(100)));
        assert!(followed(json!([1, 2]), 0, Some(100)));
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

//! Lists of any shape, a bare array or an envelope with `results` and paging, read to the last page.
//!
//! A list that may be incomplete is an error, never a shorter list.

use super::lenient_values::convert_json;
use super::list_page::{ListPage, PAGE_SIZE, to_signed};
use super::{ApiList, ApiValue, Platform};
use crate::http::{HttpError, Request, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Maximum number of pages that are read.
const MAX_PAGES: usize = 1_000;

/// Maximum number of times that all pages are read, if the list changes meanwhile.
const MAX_PASSES: usize = 4;

/// Whether the first request already has paging parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paging {
    /// The API document defines `page` and `size` for this endpoint.
    Always,
    /// The API document defines no paging: the parameters are sent only if the response is a page.
    IfPaged,
}

/// The result of reading all pages once.
enum ListPass<T> {
    Complete(ApiList<T>),
    /// The list changed between two pages, so entries may be missing.
    Changed(HttpError),
    /// A page contains an entry of an earlier page: the list changed, or it has equal entries. In the second case,
    /// another pass has the same pages, so the same `pages_hash`.
    Repetitive {
        list: ApiList<T>,
        pages_hash: u64,
        error: HttpError,
    },
}

impl<T> ListPass<T> {
    /// Creates the result of a pass over all pages. `repetition_error` says which page repeated an entry.
    fn new(list: ApiList<T>, pages_hash: u64, repetition_error: Option<HttpError>) -> Self {
        match repetition_error {
            Some(error) => Self::Repetitive {
                list,
                pages_hash,
                error,
            },
            None => Self::Complete(list),
        }
    }
}

impl Platform {
    /// Returns all entries of a list whose endpoint accepts `page` and `size`.
    pub(super) async fn fetch_all_entries<T: DeserializeOwned>(
        &self,
        url: Url,
    ) -> Result<ApiList<T>, HttpError> {
        self.fetch_list(url, Paging::Always).await
    }

    /// Requests all pages of a list and returns the entries, and the envelope of the first page. `paging` states
    /// whether the first request already has paging parameters. A list that changes between two pages is read again.
    /// Fails if it changes [`MAX_PASSES`] times, if a page repeats an earlier one, if the list does not have as many
    /// entries as it states, or if it has more than [`MAX_PAGES`] pages.
    pub(super) async fn fetch_list<T: DeserializeOwned>(
        &self,
        url: Url,
        paging: Paging,
    ) -> Result<ApiList<T>, HttpError> {
        let (mut pass_count, mut earlier_hash) = (0, None);
        loop {
            pass_count += 1;
            let error = match self.read_pages(&url, paging).await? {
                ListPass::Complete(list) => return Ok(list),
                ListPass::Repetitive {
                    list,
                    pages_hash,
                    error,
                } => {
                    if earlier_hash.replace(pages_hash) == Some(pages_hash) {
                        return Ok(list);
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
    async fn read_pages<T: DeserializeOwned>(
        &self,
        url: &Url,
        paging: Paging,
    ) -> Result<ListPass<T>, HttpError> {
        let mut list = ApiList::default();
        let mut page_size = PageSize::new((paging == Paging::Always).then_some(PAGE_SIZE));
        let (mut page_number, mut total_memory) = (0, 0);
        let mut first_total = None;
        let mut earlier_pages = EarlierPages::default();
        let (mut may_be_complete, mut repetition_error) = (false, None);
        loop {
            let request = build_page_request(url, page_number, page_size.number);
            let response = match self.client.send(&request).await {
                // The platform's limit is smaller than the API document's: without a size, it uses its own.
                Err(error) if page_size.is_open() && is_page_size_rejection(&error) => {
                    page_size = PageSize::REJECTED;
                    continue;
                }
                // An endpoint without paging may refuse the page after its complete list.
                Err(error) if may_be_complete && is_page_refusal(&error) => {
                    return Ok(ListPass::Complete(list));
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
                if may_be_complete {
                    return Ok(ListPass::Complete(list));
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
            may_be_complete = page_number == 0 && page.may_be_unpaged(page_size.number);
            let is_paged = paging == Paging::Always || page_number > 0;
            let has_next_page = page.has_next_page(list.len(), is_paged);
            page_size.accept_page(&page);
            if page_number == 0 {
                list.envelope = page.envelope;
            }
            list.entries
                .extend(convert_entries(page.entries, page.entries_field, &response)?);
            if !has_next_page {
                reject_incomplete_list(page.total, page.continuation_field, list.len(), &response)?;
                return Ok(ListPass::new(list, earlier_pages.sequence_hash, repetition_error));
            }
            page_number += 1;
            if page_number == MAX_PAGES {
                return Err(response.unusable_error(&format!("the list has more than {MAX_PAGES} pages")));
            }
        }
    }
}

/// The page size in the requests for the pages of one list.
struct PageSize {
    /// The number of entries; `None` if the requests have no size.
    number: Option<usize>,
    /// Whether the platform has accepted or rejected a page size, so that later requests do the same.
    is_settled: bool,
}

impl PageSize {
    /// The platform rejected the size, so later requests have none.
    const REJECTED: Self = Self {
        number: None,
        is_settled: true,
    };

    /// Creates the page size of the first request.
    const fn new(number: Option<usize>) -> Self {
        Self {
            number,
            is_settled: false,
        }
    }

    /// Returns whether requests have a size that the platform may still reject.
    const fn is_open(&self) -> bool {
        self.number.is_some() && !self.is_settled
    }

    /// Records that the platform returned this page. If no size was requested, the page determines the size of the next
    /// ones.
    fn accept_page(&mut self, page: &ListPage) {
        if self.number.is_some() {
            self.is_settled = true;
        }
        if !self.is_settled {
            self.number = page.size.or(Some(page.entries.len()));
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

/// Converts the entries of a page, whose field in the response is `entries_field`.
fn convert_entries<T: DeserializeOwned>(
    entries: Vec<Value>,
    entries_field: &str,
    response: &Response,
) -> Result<Vec<ApiValue<T>>, HttpError> {
    let mut values = Vec::with_capacity(entries.len());
    for (index, raw) in entries.into_iter().enumerate() {
        let value = convert_json(&raw, &format!("{entries_field}[{index}]"), response)?;
        values.push(ApiValue { value, raw });
    }
    Ok(values)
}

/// Creates the error for a list whose pages contradict each other. The base URL is right, because there is a list.
fn inconsistent_list_error(response: &Response, reason: &str) -> HttpError {
    response.unusable_error(reason).with_hint(
        "run the command again; if the list is still inconsistent, report this to the platform's operators",
    )
}

/// Returns an error if the last page states another total number of entries than `count`, or announces another page.
fn reject_incomplete_list(
    total: Option<i128>,
    continuation_field: Option<&str>,
    count: usize,
    response: &Response,
) -> Result<(), HttpError> {
    if let Some(total) = total
        && total != to_signed(count)
    {
        let reason = format!("the list announces {total} entries but has {count}");
        return Err(inconsistent_list_error(response, &reason));
    }
    match continuation_field {
        Some(field) => {
            let reason = format!("`{field}` in the response announces another page after the last one");
            Err(inconsistent_list_error(response, &reason))
        }
        None => Ok(()),
    }
}

/// Returns whether the platform refused a page for another reason than its size.
fn is_page_refusal(error: &HttpError) -> bool {
    matches!(error.status(), Some(400 | 404)) && !is_page_size_rejection(error)
}

/// Returns whether the platform rejected a request because of its page size, which the API document allows.
pub(super) fn is_page_size_rejection(error: &HttpError) -> bool {
    let mut violations = error.violations().iter();
    error.status() == Some(400)
        && violations.any(|violation| violation.field.rsplit('.').next() == Some("size"))
}

/// Returns a hash by which a repeated entry or page is recognized.
fn hash(content: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

/// Creates the request for page `number` with `size` entries. Without a size, the request for the first page has no
/// paging parameters.
fn build_page_request(url: &Url, number: usize, size: Option<usize>) -> Request {
    let mut request = Request::get(url.clone());
    if number > 0 || size.is_some() {
        request = request.query("page", &number.to_string());
    }
    if let Some(size) = size {
        request = request.query("size", &size.to_string());
    }
    request
}

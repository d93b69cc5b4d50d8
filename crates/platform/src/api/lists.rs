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
const MOST_PAGES: usize = 1_000;

/// Possible names of an envelope's array.
const ARRAYS: [&str; 7] = [
    "results",
    "artifacts",
    "items",
    "tasks",
    "content",
    "data",
    "versions",
];

/// Possible names of the total number of entries.
const TOTALS: [&str; 3] = ["total", "totalElements", "totalItems"];

/// Fields that mark an envelope as a page, even if it contains no size.
const PAGE_NUMBERS: [&str; 2] = ["page", "number"];

/// Whether the first request already has paging parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paging {
    /// The document defines `page` and `size` for this endpoint.
    FromTheStart,
    /// The document defines no paging: the parameters are sent only if the response is a page.
    IfAnswered,
}

#[derive(Debug, PartialEq)]
struct ListPage {
    /// Name of the field with the entries, for errors.
    place: &'static str,
    entries: Vec<Value>,
    total: Option<usize>,
    /// Page size, if the response contains it.
    size: Option<usize>,
    /// Whether the response has a page number.
    numbered: bool,
}

impl ListPage {
    /// Returns `None` if there is no array in an expected field.
    fn from(answer: Value) -> Option<Self> {
        match answer {
            Value::Array(entries) => Some(Self {
                place: "",
                entries,
                total: None,
                size: None,
                numbered: false,
            }),
            Value::Object(mut fields) => {
                let mut arrays = ARRAYS
                    .into_iter()
                    .filter(|name| fields.get(*name).is_some_and(Value::is_array));
                // With two lists, it is unknown which one has the entries.
                let (Some(place), None) = (arrays.next(), arrays.next()) else {
                    return None;
                };
                let number = |name| usize::try_from(fields.get(name)?.as_u64()?).ok();
                let total = TOTALS.into_iter().find_map(number);
                let size = number("size");
                let numbered = PAGE_NUMBERS.into_iter().any(|name| number(name).is_some());
                let Some(Value::Array(entries)) = fields.remove(place) else {
                    return None;
                };
                Some(Self {
                    place,
                    entries,
                    total,
                    size: size.filter(|size| *size > 0),
                    numbered,
                })
            }
            _ => None,
        }
    }

    /// Returns whether another page must be requested, after `before` entries of earlier pages; `asked` is the
    /// requested page size.
    fn is_followed(&self, before: usize, asked: Option<usize>) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        match (self.total, self.size.or(asked)) {
            (Some(total), _) => before + self.entries.len() < total,
            (None, Some(size)) => self.entries.len() >= size,
            (None, None) => self.numbered,
        }
    }

    /// Returns whether a page number is the only sign that there may be another page.
    const fn is_vague(&self) -> bool {
        self.numbered && self.total.is_none() && self.size.is_none()
    }
}

impl Platform {
    /// Returns all entries of a list, each converted by `read`, which receives the entry's path in its page.
    pub(super) async fn list<T>(
        &self,
        url: Url,
        paging: Paging,
        read: impl Fn(Value, &str, &Response) -> Result<T, HttpError>,
    ) -> Result<Vec<T>, HttpError> {
        let mut all = Vec::new();
        let mut asked = (paging == Paging::FromTheStart).then_some(PAGE_SIZE);
        let mut weight = 0;
        let (mut before, mut last) = (HashSet::new(), None);
        for number in 0..MOST_PAGES {
            let response = self.client.send(&page_request(&url, number, asked)).await?;
            weight = response.fits_beside(weight)?;
            let page =
                ListPage::from(response.json()?).ok_or_else(|| response.unusable("it contains no list"))?;
            let print = fingerprint(&page.entries);
            let repeats = !page.entries.is_empty() && !before.insert(print);
            let which = if last.replace(print) == Some(print) {
                "the page before"
            } else {
                "an earlier page"
            };
            if repeats && number == 1 && page.is_vague() {
                // The platform marks the complete list as a page.
                return Ok(all);
            }
            if repeats {
                return Err(response.unusable(&format!("page {number} repeats {which}")));
            }
            let followed = page.is_followed(all.len(), asked);
            asked = asked.or(page.size).or(Some(page.entries.len()));
            let total = page.total;
            for (index, entry) in page.entries.into_iter().enumerate() {
                all.push(read(entry, &format!("{}[{index}]", page.place), &response)?);
            }
            if let (false, Some(total)) = (followed, total.filter(|total| *total != all.len())) {
                let held = all.len();
                return Err(response.unusable(&format!("the list announces {total} entries but has {held}")));
            }
            if !followed {
                return Ok(all);
            }
            if number + 1 == MOST_PAGES {
                return Err(response.unusable("the list has no end"));
            }
        }
        Ok(all)
    }
}

/// Returns a hash that distinguishes pages.
fn fingerprint(entries: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in entries {
        entry.hash(&mut hasher);
    }
    hasher.finish()
}

fn page_request(url: &Url, number: usize, size: Option<usize>) -> Request {
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
            let page = ListPage::from(answer).unwrap();
            assert_eq!((page.place, page.entries), (place, vec![json!(1), json!(2)]));
        }
        assert_eq!(ListPage::from(json!({ "results": null })), None);
        assert_eq!(ListPage::from(json!("text")), None);
        assert_eq!(ListPage::from(json!({ "results": [], "artifacts": [{}] })), None);
    }

    #[test]
    fn end_is_told_by_what_page_says() {
        let followed = |answer, before, asked| ListPage::from(answer).unwrap().is_followed(before, asked);
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

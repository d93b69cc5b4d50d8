//! Lists, whatever their shape: a bare array, or an envelope with `results` and paging; read to the end.
//!
//! A list that cannot be told to be complete is an error, never a shorter list.

use super::Platform;
use crate::platform::http::{HttpError, Request, Response, Url};
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The largest page that the API document allows anywhere.
const PAGE_SIZE: usize = 100;

/// The most pages that are read.
const MOST_PAGES: usize = 1_000;

/// The names that the array of an envelope is found by.
const ARRAYS: [&str; 7] = [
    "results",
    "artifacts",
    "items",
    "tasks",
    "content",
    "data",
    "versions",
];

/// The names that the number of all entries is found by.
const TOTALS: [&str; 3] = ["total", "totalElements", "totalItems"];

/// The names by which an envelope says that it is a page, even where it tells no size.
const PAGE_NUMBERS: [&str; 2] = ["page", "number"];

/// Whether the first request already asks for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paging {
    /// The document names `page` and `size` for this endpoint.
    FromTheStart,
    /// It does not: they are sent only if the answer shows that it is a page.
    IfAnswered,
}

#[derive(Debug, PartialEq)]
struct ListPage {
    /// Where in the answer the entries stand.
    place: &'static str,
    entries: Vec<Value>,
    total: Option<usize>,
    /// The size of the pages, if the answer tells.
    size: Option<usize>,
    /// Whether the answer says that it is a page.
    numbered: bool,
}

impl ListPage {
    /// None if there is no array where one is expected.
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
                let place = ARRAYS
                    .into_iter()
                    .find(|name| fields.get(*name).is_some_and(Value::is_array))?;
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

    /// Whether another page must be asked for, after `before` entries of earlier pages; `asked` is the size that
    /// was asked for.
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

    /// Whether nothing but the word "page" speaks for another page.
    const fn is_vague(&self) -> bool {
        self.numbered && self.total.is_none() && self.size.is_none()
    }
}

impl Platform {
    /// All entries of a list, each turned into a `T` by `read`, which is told where in its page the entry stood.
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
                ListPage::from(response.json()?).ok_or_else(|| response.unusable("it holds no list"))?;
            let print = fingerprint(&page.entries);
            let repeats = !page.entries.is_empty() && !before.insert(print);
            let which = if last.replace(print) == Some(print) {
                "the page before"
            } else {
                "an earlier page"
            };
            if repeats && number == 1 && page.is_vague() {
                // The platform calls the whole list a page.
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
                return Err(response.unusable(&format!("the list tells {total} entries and holds {held}")));
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

/// What tells a page from another.
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
    fn the_array_is_found_in_any_envelope() {
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
    }

    #[test]
    fn the_end_is_told_by_what_the_page_says() {
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

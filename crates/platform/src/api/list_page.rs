//! One page of a list, and what its envelope says about the other pages.

use serde_json::{Map, Value};

/// The largest page size that the API document allows for any endpoint.
pub(super) const PAGE_SIZE: usize = 100;

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

/// Fields of an envelope, or of an object in it, that mark it as a page even if it contains no size.
const PAGE_NUMBER_FIELDS: [&str; 2] = ["page", "number"];

/// Fields that announce another page unless they are empty, null, 0 or false.
const CONTINUATION_FIELDS: [&str; 8] = [
    "more",
    "next",
    "hasNext",
    "hasMore",
    "nextPage",
    "nextToken",
    "nextPageToken",
    "nextCursor",
];

/// Objects of an envelope that may contain its paging fields.
const PAGING_OBJECTS: [&str; 6] = ["page", "pagination", "paging", "meta", "links", "_links"];

#[derive(Debug, Default, PartialEq)]
pub(super) struct ListPage {
    /// Name of the field with the entries, for errors; empty for a bare array.
    pub(super) entries_field: &'static str,
    pub(super) entries: Vec<Value>,
    /// The other fields of the envelope, without those that describe only one page of the list.
    pub(super) envelope: Map<String, Value>,
    /// Not a natural number only if the server is wrong.
    pub(super) total: Option<i128>,
    /// Page size, if the response contains it.
    pub(super) size: Option<usize>,
    /// The field that announces another page, if there is one.
    pub(super) continuation_field: Option<&'static str>,
    /// Whether the response has a page number.
    has_page_number: bool,
}

impl ListPage {
    /// Parses a page: a bare array, or an envelope. Returns `None` if no expected field of the envelope contains an
    /// array, or if several do, because it is unknown then which array has the entries.
    pub(super) fn parse(response: Value) -> Option<Self> {
        let mut fields = match response {
            Value::Array(entries) => {
                return Some(Self {
                    entries,
                    ..Self::default()
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
        let total = TOTAL_FIELDS
            .into_iter()
            .find_map(|name| find_integer(&fields, name));
        let size = find_integer(&fields, "size").and_then(|size| usize::try_from(size).ok());
        let has_page_number = PAGE_NUMBER_FIELDS
            .into_iter()
            .any(|name| find_integer(&fields, name).is_some_and(|number| number >= 0));
        let continuation_field = CONTINUATION_FIELDS
            .into_iter()
            .find(|name| list_paging_values(&fields, name).any(announces_page));
        remove_page_facts(&mut fields);
        let Some(Value::Array(entries)) = fields.shift_remove(entries_field) else {
            return None;
        };
        Some(Self {
            entries_field,
            entries,
            envelope: fields,
            total,
            size: size.filter(|size| *size > 0),
            continuation_field,
            has_page_number,
        })
    }

    /// Returns whether another page must be requested, after `earlier_count` entries of earlier pages. `is_paged`
    /// states that the endpoint has pages; an envelope may be one in any case. If no total and no page size is known,
    /// the list ends at an empty page: the platform may send smaller pages than requested.
    pub(super) fn has_next_page(&self, earlier_count: usize, is_paged: bool) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        match (self.total, self.size) {
            (Some(total), _) => to_signed(earlier_count + self.entries.len()) < total,
            (None, Some(size)) => self.entries.len() >= size,
            (None, None) => is_paged || !self.entries_field.is_empty(),
        }
    }

    /// Returns whether this first page may be a complete list: nothing announces another page, it has no total and no
    /// page size, and it has a page number or another number of entries than a full page of the requested size.
    pub(super) const fn may_be_unpaged(&self, requested_size: Option<usize>) -> bool {
        let has_size = self.total.is_some() || self.size.is_some() || self.continuation_field.is_some();
        let is_short = requested_size.is_none() || self.entries.len() < PAGE_SIZE;
        !has_size && (self.has_page_number || is_short)
    }
}

/// Removes the fields that are false for the merged list: those that announce another page, and the total numbers,
/// which the program states itself, because the entries may be filtered.
fn remove_page_facts(fields: &mut Map<String, Value>) {
    for name in CONTINUATION_FIELDS.into_iter().chain(TOTAL_FIELDS) {
        fields.shift_remove(name);
        for object in PAGING_OBJECTS {
            if let Some(Value::Object(object_fields)) = fields.get_mut(object) {
                object_fields.shift_remove(name);
            }
        }
    }
}

/// Returns the values of this field in the envelope and in its objects about paging.
fn list_paging_values<'f>(fields: &'f Map<String, Value>, name: &'f str) -> impl Iterator<Item = &'f Value> {
    let objects = PAGING_OBJECTS
        .into_iter()
        .filter_map(move |object| fields.get(object)?.get(name));
    fields.get(name).into_iter().chain(objects)
}

/// Returns the first integer in a field of this name in the envelope or in its objects about paging.
fn find_integer(fields: &Map<String, Value>, name: &str) -> Option<i128> {
    list_paging_values(fields, name).find_map(to_integer)
}

/// Returns whether a field with this value announces another page.
fn announces_page(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(has_more) => *has_more,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.as_str(), "" | "0" | "false"),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Returns the value if it is an integer, also in a string. A wrong server may send a negative one.
fn to_integer(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => number.as_i128(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Converts a number of entries for the comparison with a total, which may be negative.
pub(super) fn to_signed(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::{ListPage, PAGE_SIZE};
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
        for (answer, earlier_count, is_paged, expected) in [
            (json!({ "results": [1, 2], "total": 3 }), 0, false, true),
            (json!({ "results": [3], "total": 3 }), 2, false, false),
            (json!({ "results": [], "total": 3 }), 2, false, false),
            (
                json!({ "results": [1, 2], "pagination": { "total": 3 } }),
                0,
                false,
                true,
            ),
            (
                json!({ "results": [3], "meta": { "total": "3" } }),
                2,
                false,
                false,
            ),
            (json!({ "results": [1, 2], "size": 2 }), 0, true, true),
            (json!({ "results": [1], "size": 2 }), 0, true, false),
            (json!({ "results": [1], "page": { "size": 2 } }), 0, true, false),
            (json!([1, 2]), 0, true, true),
            (json!([1, 2]), 0, false, false),
            (json!({ "results": [1, 2], "page": 0 }), 0, false, true),
            (
                json!({ "content": [1], "number": 0, "totalElements": 2 }),
                0,
                false,
                true,
            ),
            (
                json!({ "content": [2], "number": 1, "totalElements": 2 }),
                1,
                false,
                false,
            ),
            (json!({ "results": [], "page": 9 }), 4, false, false),
        ] {
            let page = ListPage::parse(answer.clone()).unwrap();
            assert_eq!(page.has_next_page(earlier_count, is_paged), expected, "{answer}");
        }
    }

    #[test]
    fn field_that_announces_another_page_is_recognized_also_in_a_paging_object() {
        for (answer, expected_field) in [
            (json!({ "results": [1], "hasMore": true }), Some("hasMore")),
            (
                json!({ "results": [1], "pagination": { "hasMore": true } }),
                Some("hasMore"),
            ),
            (
                json!({ "results": [1], "_links": { "next": { "href": "/x" } } }),
                Some("next"),
            ),
            (json!({ "results": [1], "nextPage": 1 }), Some("nextPage")),
            (
                json!({ "results": [1], "hasMore": false, "next": null, "nextPage": 0 }),
                None,
            ),
            (
                json!({ "results": [1], "nextToken": "", "_links": { "next": {} } }),
                None,
            ),
            (json!([1]), None),
        ] {
            let page = ListPage::parse(answer.clone()).unwrap();
            assert_eq!(page.continuation_field, expected_field, "{answer}");
        }
    }

    #[test]
    fn envelope_keeps_no_field_about_another_page_and_no_total() {
        let answer = json!({
            "results": [1], "hasMore": true, "nextPage": 1, "totalElements": 5, "other": 1,
            "pagination": { "hasMore": true, "total": 5, "limit": 3 },
            "_links": { "next": "/x", "self": "/y" },
        });
        let page = ListPage::parse(answer).unwrap();
        assert_eq!(page.total, Some(5));
        let expected_envelope =
            json!({ "other": 1, "pagination": { "limit": 3 }, "_links": { "self": "/y" } });
        assert_eq!(serde_json::Value::Object(page.envelope), expected_envelope);
    }

    #[test]
    fn list_without_numbers_may_be_complete_if_its_page_is_not_full() {
        let full_list = json!(vec![1; PAGE_SIZE]);
        let full_page = json!({ "results": vec![1; PAGE_SIZE], "page": 0 });
        for (answer, requested_size, expected) in [
            (json!([1]), Some(PAGE_SIZE), true),
            (full_list.clone(), Some(PAGE_SIZE), false),
            (full_list, None, true),
            (full_page, Some(PAGE_SIZE), true),
            (json!({ "results": [1], "total": 1 }), Some(PAGE_SIZE), false),
            (json!({ "results": [1], "size": 1 }), Some(PAGE_SIZE), false),
            (json!({ "results": [1], "hasMore": true }), Some(PAGE_SIZE), false),
        ] {
            let page = ListPage::parse(answer.clone()).unwrap();
            assert_eq!(page.may_be_unpaged(requested_size), expected, "{answer}");
        }
    }
}

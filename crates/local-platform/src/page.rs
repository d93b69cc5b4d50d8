//! Paging: `page` and `size` in, the paged envelope out (API document, "Paged list envelope").

use super::body_check::BodyCheck;
use super::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;
use std::collections::HashMap;
use url::form_urlencoded;
use utoipa::{IntoParams, ToSchema};

const DEFAULT_SIZE: u32 = 20;
const MAX_SIZE: u32 = 100;

/// The decoded query of a request, in which each name occurs once.
#[derive(Debug, Default)]
pub(super) struct Query(HashMap<String, String>);

impl Query {
    /// Decodes the query of a URL. Returns a 400 if a name occurs twice.
    fn parse(query: &str) -> Result<Self, Problem> {
        let mut parsed_query = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if parsed_query.0.contains_key(name.as_ref()) {
                return Err(Problem::invalid_field(name, "must not occur twice in the query"));
            }
            parsed_query.0.insert(name.into_owned(), value.into_owned());
        }
        Ok(parsed_query)
    }

    /// Returns the value of a query parameter, or `None` if the query does not have the parameter.
    pub(super) fn find_value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the value of a boolean parameter. Records an error if the value is neither `true` nor `false`.
    pub(super) fn find_boolean(&self, check: &mut BodyCheck, name: &str) -> Option<bool> {
        match self.find_value(name)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                check.add_error(name, "must be true or false");
                None
            }
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    /// Decodes the query of the request, which may be missing.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

/// The requested page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Page {
    /// The page number, counted from 0; a page past the end is empty.
    #[param(required = false, minimum = 0, default = 0, format = "uint64")]
    pub page: u64,
    /// Maximum number of items in a page.
    #[param(required = false, minimum = 1, maximum = 100, default = 20)]
    pub size: u32,
}

impl Page {
    /// Reads the parameters `page` and `size`, with the usual default size. Records an error for each invalid value.
    pub(super) fn from_query(query: &Query, check: &mut BodyCheck) -> Self {
        Self::from_query_with_default_size(DEFAULT_SIZE, query, check)
    }

    /// Reads the parameters `page` and `size` for a list with its own default size. Records an error for each invalid
    /// value, and then uses the default.
    pub(super) fn from_query_with_default_size(default: u32, query: &Query, check: &mut BodyCheck) -> Self {
        let number = |name: &str| query.find_value(name).map(parse_whole_number);
        let page = number("page").unwrap_or(Some(0));
        let size = number("size").unwrap_or(Some(default.into()));
        let size = size
            .and_then(|size| u32::try_from(size).ok())
            .filter(|size| (1..=MAX_SIZE).contains(size));
        if page.is_none() {
            check.add_error("page", format!("must be a whole number from 0 to {}", u64::MAX));
        }
        if size.is_none() {
            check.add_error("size", format!("must be a whole number from 1 to {MAX_SIZE}"));
        }
        Self {
            page: page.unwrap_or_default(),
            size: size.unwrap_or(default),
        }
    }

    /// Reads the parameters `page` and `size`, or returns a 400 if a value is invalid. A list with further parameters
    /// uses [`Page::from_query`] instead, so that one 400 contains the errors of all its parameters.
    pub(super) fn try_from_query(query: &Query) -> Result<Self, Problem> {
        let mut check = BodyCheck::default();
        let page = Self::from_query(query, &mut check);
        check.into_result(page)
    }

    /// Returns the number of items before the page, for `OFFSET` in SQL. A number that overflows becomes the maximum,
    /// so that the page is empty.
    pub(super) fn offset(self) -> i64 {
        let skipped_count = self.page.saturating_mul(self.size.into());
        i64::try_from(skipped_count).unwrap_or(i64::MAX)
    }
}

/// Parses decimal digits, and returns `None` for any other text and for a number that overflows.
pub(super) fn parse_whole_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Paged)]
pub(super) struct PagedList<T> {
    results: Vec<T>,
    page: u64,
    size: u32,
    total: u64,
}

impl<T> PagedList<T> {
    /// Creates a page with these items; `total` is the number of items in all pages.
    pub(super) fn new(page: Page, results: Vec<T>, total: u64) -> Self {
        Self {
            results,
            page: page.page,
            size: page.size,
            total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<(u64, u32), Problem> {
        let page = Page::try_from_query(&Query::parse(query)?)?;
        Ok((page.page, page.size))
    }

    #[test]
    fn bounds_are_those_of_the_api_document() {
        assert_eq!(read(""), Ok((0, 20)));
        assert_eq!(read("page=3&size=1"), Ok((3, 1)));
        assert_eq!(read("size=100&other=x"), Ok((0, 100)));
        assert_eq!(read("page=18446744073709551615"), Ok((u64::MAX, 20)));
        for wrong in [
            "size=0",
            "size=101",
            "size=",
            "size=%2B1",
            "size=1.0",
            "page=-1",
            "page=x",
            "page=+1",
            "size=4294967297",
            "size=99999999999999999999",
            "page=18446744073709551616",
            "page=1&page=2",
            "other=x&other=x",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn page_beyond_counting_is_past_end() {
        let page = Page {
            page: u64::MAX,
            size: 100,
        };
        assert_eq!(page.offset(), i64::MAX);
        assert_eq!(Page { page: 2, size: 30 }.offset(), 60);
    }
}

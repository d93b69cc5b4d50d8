//! What the JUnit writer leaves out: totals on the root, skipped counts and properties on the suites. Its invented
//! `hostname` goes. The document is read and written event by event, so no text in it can be mistaken for markup.
//!
//! The strict dialect keeps to what both of the schemas in use allow, that of Jenkins' xunit plugin
//! (<https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd>)
//! and that of Ant's reports (<https://github.com/windyroad/JUnit-Schema>), of which old versions know nothing skipped:
//! nothing on the root, no `file` on a case, a host name, a time without zone, and the two output elements at each
//! suite's end.

use crate::report::ReportError;
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::reader::Reader;

/// Which readers the document is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The CI hosts, which read attributes freely.
    Hosts,
    /// Validators of the strict schemas.
    Strict,
}

/// What is added.
pub struct Additions<'a> {
    /// Which readers the document is for.
    pub dialect: Dialect,
    /// Attributes of the root.
    pub totals: &'a [(&'static str, String)],
    /// Skipped cases, by suite.
    pub skipped: &'a [usize],
    /// Properties of every suite.
    pub properties: &'a [(&'static str, String)],
}

/// The completed document.
pub fn complete(xml: &str, additions: &Additions<'_>) -> Result<String, ReportError> {
    let mut reader = Reader::from_str(xml);
    let mut writer = Writer::new(Vec::with_capacity(xml.len() * 2));
    let mut suites = additions.skipped.iter();
    loop {
        match reader.read_event()? {
            Event::Eof => break,
            Event::Start(tag) if tag.name().as_ref() == b"testsuites" => {
                writer.write_event(Event::Start(with(&tag, additions.totals)?))?;
            }
            Event::Start(tag) if tag.name().as_ref() == b"testsuite" => {
                open_suite(&mut writer, &tag, suites.next().copied(), additions)?;
            }
            Event::Empty(tag) if tag.name().as_ref() == b"testsuite" => {
                open_suite(&mut writer, &tag, suites.next().copied(), additions)?;
                close_suite(&mut writer, additions.dialect)?;
            }
            Event::End(tag) if tag.name().as_ref() == b"testsuite" => {
                close_suite(&mut writer, additions.dialect)?;
            }
            Event::Start(tag) if additions.dialect == Dialect::Strict => {
                writer.write_event(Event::Start(without_file(&tag)?))?;
            }
            Event::Empty(tag) if additions.dialect == Dialect::Strict => {
                writer.write_event(Event::Empty(without_file(&tag)?))?;
            }
            event => writer.write_event(event)?,
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

fn open_suite(
    writer: &mut Writer<Vec<u8>>,
    tag: &BytesStart<'_>,
    skipped: Option<usize>,
    additions: &Additions<'_>,
) -> Result<(), ReportError> {
    let opened = match additions.dialect {
        Dialect::Hosts => with(tag, &[("skipped", skipped.unwrap_or_default().to_string())])?,
        Dialect::Strict => with_local_time(&with(tag, &[])?)?,
    };
    writer.write_event(Event::Start(opened))?;
    writer.write_event(Event::Start(BytesStart::new("properties")))?;
    for (name, value) in additions.properties {
        let mut property = BytesStart::new("property");
        property.push_attribute(("name", *name));
        property.push_attribute(("value", value.as_str()));
        writer.write_event(Event::Empty(property))?;
    }
    writer.write_event(Event::End(BytesEnd::new("properties")))?;
    Ok(())
}

/// Ends a suite; the strict schemas want its second output, empty or not. The first is in the suite.
fn close_suite(writer: &mut Writer<Vec<u8>>, dialect: Dialect) -> Result<(), ReportError> {
    if dialect == Dialect::Strict {
        writer.write_event(Event::Empty(BytesStart::new("system-err")))?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    Ok(())
}

/// The tag with more attributes, and without the host name.
fn with(tag: &BytesStart<'_>, more: &[(&'static str, String)]) -> Result<BytesStart<'static>, ReportError> {
    let mut opened = filtered(tag, |name| name != b"hostname")?;
    for (name, value) in more {
        opened.push_attribute((*name, value.as_str()));
    }
    Ok(opened)
}

fn without_file(tag: &BytesStart<'_>) -> Result<BytesStart<'static>, ReportError> {
    filtered(tag, |name| name != b"file")
}

fn filtered(tag: &BytesStart<'_>, keep: impl Fn(&[u8]) -> bool) -> Result<BytesStart<'static>, ReportError> {
    let mut opened = BytesStart::new(String::from_utf8_lossy(tag.name().as_ref()).into_owned());
    for attribute in tag.attributes() {
        let attribute = attribute?;
        if keep(attribute.key.as_ref()) {
            opened.push_attribute(attribute);
        }
    }
    Ok(opened)
}

/// The tag with its timestamp cut to seconds and without a zone, and a host name.
fn with_local_time(tag: &BytesStart<'_>) -> Result<BytesStart<'static>, ReportError> {
    const SECONDS: usize = "2026-11-20T09:30:00".len();
    let mut opened = filtered(tag, |name| name != b"timestamp")?;
    for attribute in tag.attributes() {
        let attribute = attribute?;
        if attribute.key.as_ref() == b"timestamp" {
            let text = String::from_utf8_lossy(&attribute.value);
            opened.push_attribute(("timestamp", text.get(..SECONDS).unwrap_or(&text)));
        }
    }
    opened.push_attribute(("hostname", "localhost"));
    Ok(opened)
}
